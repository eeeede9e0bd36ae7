import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/cli/transfer.ts';
import { openAdministration } from '../../src/petstore/open.ts';
import { createFolder } from '../support/folder.ts';
import { quiet } from '../support/log.ts';
import { commandPath } from '../support/process.ts';

const folder = createFolder();

describe('the output of an export', () => {
  it('fails with one sentence if it cannot be written', async () => {
    const command = `${process.execPath} ${await commandPath()}`;
    const rex = `echo '{"name":"Rex","categoryId":1}'`;
    const script = `${rex} | ${command} import pets - && ${command} export pets >/dev/full`;
    const env = { DATABASE_URL: `file:${folder}/pets.db` };
    const exported = promisify(execFile)('sh', ['-c', script], { env });
    const stderr = /^Created the database .*\nstandard output: no space left on device\n$/;
    await expect(exported).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(stderr),
    });
  });

  it('ends without an error when its reader closes the pipe', async () => {
    const command = `${process.execPath} ${await commandPath()}`;
    const rex = `echo '{"name":"Rex","categoryId":1}'`;
    const script = `${rex} | ${command} import pets -; ${command} export pets | true`;
    const env = { DATABASE_URL: `file:${folder}/piped.db` };
    const args = ['--norc', '-e', '-o', 'pipefail', '-c', script];
    const { stdout, stderr } = await promisify(execFile)('bash', args, { env });
    expect(stdout).toBe('Imported 1 pet.\n');
    expect(stderr).toBe(`Created the database ${folder}/piped.db.\n`);
  });
});

describe('the input of an import', () => {
  it('is refused as soon as a line is too long', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    const last = 100;
    let chunks = 0;
    async function* lines() {
      yield Buffer.from('{"name":"a","categoryId":1}\n');
      while (chunks++ < last) yield Buffer.alloc(1000, 'x');
    }
    const work = administration.importLines('pets', linesOf(lines()));
    await expect(work).rejects.toThrow('Line 2: expected at most 16384 bytes.');
    expect(chunks).toBeLessThan(last);
  });

  it('may arrive in chunks of any size', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    const text = '{"name":"ä","categoryId":1}\r\n\n{"name":"b","categoryId":2}';
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
    const lines = linesOf(Readable.from(bytes));
    expect(await administration.importLines('pets', lines)).toBe(2);
  });
});
