import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createFolder } from '../support/folder.ts';
import { runCommand } from '../support/process.ts';

const folder = createFolder();
const run = (...args: string[]) => runCommand(args, { DATABASE_URL: `file:${folder}/pets.db` });

// What they do in each database is tested in `test/backends/builtin/administration.test.ts`.
describe('the commands', () => {
  it('create and revoke a key, and print text or JSON', async () => {
    await run('migrate');
    expect((await run('keys', 'accounts')).stdout).toMatch(
      /^No accounts\. Create one with: .*keys create-account NAME\n$/,
    );
    await run('keys', 'create-account', 'acme');
    const options = ['--label', 'the shop', '--expires', '90d', '--json'];
    const created = await run('keys', 'create', 'acme', ...options);
    const { id, key, ...rest } = JSON.parse(created.stdout);
    expect(Date.parse(rest.expiresAt) - Date.parse(rest.createdAt)).toBe(90 * 86_400_000);
    const rotated = await run('keys', 'rotate', id, '--overlap', '12h');
    expect(rotated.stdout).toMatch(
      new RegExp(
        `^pet_\\S+\n\nThis is key \\w{12} of account acme\\. It expires at .*\nIt replaces key ${id}, which expires at \\S+Z\\.\n$`,
      ),
    );
    const list = await run('keys', 'list', 'acme');
    const row = String.raw`\w{12}  the shop  \d{4}-\S+Z  \d{4}-\S+Z\n`;
    expect(list.stdout).toMatch(
      new RegExp(`^KEY +LABEL +CREATED +EXPIRES +LAST USED +REVOKED\n${row}${row}$`),
    );
    expect(list.stdout).not.toContain(key);
    const listed = JSON.parse((await run('keys', 'list', 'acme', '--json')).stdout);
    expect(listed[0]).toMatchObject({ id, label: 'the shop', replacedBy: listed[1].id });
    const hours = (of: string, to: string) => (Date.parse(to) - Date.parse(of)) / 3_600_000;
    expect(hours(listed[1].createdAt, listed[0].expiresAt)).toBeCloseTo(12);
    const again = JSON.parse((await run('keys', 'rotate', listed[1].id, '--json')).stdout);
    expect(hours(again.createdAt, again.replaces.expiresAt)).toBeCloseTo(24);
    expect((await run('keys', 'revoke', id)).stdout).toContain(`Revoked key ${id} of account acme`);
  });

  it.each([
    'keys accounts',
    '--print-config',
    '',
  ])('print nothing of a password with a line break: %s', async (command) => {
    const file = `${folder}/${randomUUID()}`;
    writeFileSync(file, 'DATABASE_URL="postgres://ann:hunt\\ner2@127.0.0.1:1/pets"\n');
    const args = command.split(' ').filter(Boolean);
    const { code, stdout, stderr } = await runCommand(args, { CONFIG_FILE: file, PORT: '0' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/ {2}- DATABASE_URL: expected file:PATH .* unencoded "\\n"\n$/);
    expect(stderr).not.toMatch(/hunt|er2/);
  });

  it.each([
    ['keys accounts', false],
    ['keys list acme', false],
    ['keys create acme', false],
    ['keys rotate 1', false],
    ['keys revoke 1', false],
    ['export pets', false],
    ['backup copy.db', false],
    ['keys create-account acme', true],
    ['migrate', true],
    ['import pets /dev/null', true],
  ])('%s creates a missing database: %s', async (command, creates) => {
    const path = `${folder}/${randomUUID()}/pets.db`;
    const env = { DATABASE_URL: `file:${path}` };
    const { code, stderr } = await runCommand(command.split(' '), env);
    expect([code, existsSync(dirname(path))]).toEqual([creates ? 0 : 1, creates]);
    if (creates) expect(stderr).toBe(`Created the database ${path}.\n`);
    else expect(stderr).toMatch(new RegExp(`there is no file ${path}|^${path}: no such file`));
    if (creates) expect((await runCommand(command.split(' '), env)).stderr).not.toMatch(/Created/);
  });

  it('exit with 1 if the command fails, and with 2 if the command line is invalid', async () => {
    const failed = await run('keys', 'create', 'nobody');
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toMatch(
      /^There is no account with the name "nobody"\. Create it with: .* keys create-account nobody\n$/,
    );
    const env = { ...process.env, DATABASE_URL: `file:${folder}/pets.db` };
    const args = ['run', '-s', 'keys', '--', 'list', 'nobody'];
    const inClone = promisify(execFile)('npm', args, { env });
    const stderr = expect.stringContaining('with: npm run keys -- create-account nobody\n');
    await expect(inClone).rejects.toMatchObject({ stderr });
    const invalid = ['srve', 'keys burn', 'export cats', 'import pets', '--nope'];
    invalid.push('keys create acme --expires 90');
    const codes = invalid.map(async (words) => (await run(...words.split(' '))).code);
    expect(await Promise.all(codes)).toEqual(invalid.map(() => 2));
    expect((await run('import', 'pets', '/nope.jsonl')).stderr).toBe(
      '/nope.jsonl: no such file or directory\n',
    );
    expect((await run('import', 'pets', folder)).stderr).toBe(
      `${folder}: expected a file, received a directory.\n`,
    );
  });

  it('are refused while a REST service is configured', async () => {
    const env = { PETSTORE_BASE_URL: 'http://127.0.0.1:1/v1' };
    const { code, stderr } = await runCommand(['keys', 'accounts'], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^This command needs the built-in backend, but a REST service is conf/);
  });

  it('log to standard error with LOG_LEVEL=debug, and print the stack of an error', async () => {
    const env = { DATABASE_URL: `file:${folder}/logged.db`, LOG_LEVEL: 'debug' };
    const { stdout, stderr } = await runCommand(['migrate', '--json'], env);
    expect(stdout).toBe('{"upToDate":true}\n');
    expect(stderr).toContain('"msg":"database migrated"');
    const failed = await runCommand(['keys', 'list', 'nobody'], env);
    expect(failed.stderr).toMatch(/^Error: There is no account .*\n {4}at /m);
  });

  it('describe their options with --help', async () => {
    const commands = ['keys', 'keys create', 'import', 'check-service', ''];
    const runs = commands.map((words) => run(...words.split(' ').filter(Boolean), '--help'));
    const results = await Promise.all(runs);
    for (const { code, stdout } of results) {
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: /)]);
    }
  });
});
