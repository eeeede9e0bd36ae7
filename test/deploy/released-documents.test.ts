import { execFile } from 'node:child_process';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ListOrdersDocument } from '../../packages/client/src/documents.ts';
import { persistedHash } from '../../packages/client/src/persisted-hash.ts';
import { createFolder } from '../support/folder.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const run = promisify(execFile);
const repository = join(import.meta.dirname, '../..');

describe('a release', () => {
  const folder = createFolder();
  const path = (file: string) => join(folder, file);
  const manifest = async () =>
    JSON.parse(await readFile(path('packages/client/persisted-documents.json'), 'utf8'));
  const npm = (...script: string[]) =>
    run('npm', ['run', '--silent', ...script], {
      cwd: folder,
      env: { ...process.env, PATH: `${path('node_modules/.bin')}:${process.env['PATH']}` },
    }).catch((error) => error);

  beforeAll(async () => {
    const files = [
      'codegen.ts',
      'CHANGELOG.md',
      'README.md',
      'package.json',
      'test/dev.ts',
      'test/parts.ts',
      'test/tasks.ts',
      'packages',
      'docs',
      'schema',
      'src',
    ];
    for (const file of [...files, 'examples/web/src']) {
      await cp(join(repository, file), path(file), {
        recursive: true,
        filter: (source) => !/\/(?:dist|node_modules)$/.test(source),
      });
    }
    await symlink(join(repository, 'node_modules'), path('node_modules'));
  });

  it('keeps the hash of a document that has changed, and names what breaks', async () => {
    const before = await manifest();
    const operation = path('schema/operations/send-message.graphql');
    const text = await readFile(operation, 'utf8');
    await writeFile(operation, text.replace(/^\s*createdAt$/m, ''));
    expect(await npm('codegen')).toMatchObject({ stderr: '' });
    const after = await manifest();
    expect(after).toMatchObject(before);
    expect(Object.keys(after)).toHaveLength(Object.keys(before).length + 1);
    const { code, stderr } = await npm('dev', '--', 'check:schema');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /quote each of these sentences under "Unreleased" in CHANGELOG\.md:\n- Field sendMessage\.createdAt was removed from the packaged document SendMessage\.\n$/,
    );
  });

  it('loses a hash only with an entry in the changelog', async () => {
    const lost = persistedHash(ListOrdersDocument);
    const { [lost]: _, ...others } = await manifest();
    await writeFile(path('packages/client/persisted-documents.json'), JSON.stringify(others));
    const sentence = `Persisted document ListOrders (${lost}) was removed.`;
    expect((await npm('dev', '--', 'check:schema')).stderr).toContain(`\n- ${sentence}\n`);
    const changelog = await readFile(path('CHANGELOG.md'), 'utf8');
    const entry = `## Unreleased\n\n- ${sentence}\n`;
    await writeFile(path('CHANGELOG.md'), changelog.replace('## Unreleased\n', entry));
    expect((await npm('dev', '--', 'check:schema')).stderr).not.toContain('ListOrders');
    // While the document is among the sources, codegen adds it again.
    await rm(path('schema/operations/list-orders.graphql'));
    await npm('codegen');
    expect(await manifest()).not.toHaveProperty([lost]);
  });
});
