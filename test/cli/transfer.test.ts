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
});

describe('the input of an import', () => {
  it('is refused as soon as a line is too long', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    async function* endless() {
      yield Buffer.from('{"name":"a","categoryId":1}\n');
      for (;;) yield Buffer.alloc(1000, 'x');
    }
    const work = administration.importLines('pets', linesOf(endless()));
    await expect(work).rejects.toThrow('Line 2: expected at most 16384 bytes.');
  });

  it('may arrive in chunks of any size', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    const text = '{"name":"ä","categoryId":1}\r\n\n{"name":"b","categoryId":2}';
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
    const lines = linesOf(Readable.from(bytes));
    expect(await administration.importLines('pets', lines)).toBe(2);
  });
});
