import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The steps of `npm run check` that depend on the examples. The others take most of its time. */
const check = [
  'npm run -s dev -- check:types',
  'npm run -s build --workspace packages/client',
  'npx tsc -p examples/web',
  'npx biome check .',
  'test/checks/node_modules/.bin/depcruise src',
  'npm run -s dev -- check:declarations',
  'npm run -s dev -- check:names',
  'npm run -s dev -- check:schema',
].join('\n');

const page = await readFile(join(root, 'docs/changing.md'), 'utf8');
const rows = [...page.matchAll(/^\| \[(.+)\]\(#.+\) \| .+ \| (\d+) \|$/gm)];
const sections = page.split(/^## /m).flatMap((section) => {
  const [, commands = '', file = ''] = /^```sh\n(git apply (\S+)\n.*?)^```/ms.exec(section) ?? [];
  const title = section.split('\n')[0]?.toLowerCase();
  // Others that the same commands try.
  const linked = [...section.matchAll(/\]\((changing\/\S+\.diff)\)/g)];
  const others = linked.map(([, path]) => `docs/${path}`);
  return file ? [file, ...others].map((one) => ({ title, commands, first: file, file: one })) : [];
});

/** Links each installed package to a copy, whose workspaces are its own. */
async function linkPackages(modules: string, copy: string) {
  await mkdir(join(copy, modules), { recursive: true });
  for (const entry of await readdir(join(root, modules), { withFileTypes: true })) {
    const from = join(root, modules, entry.name);
    const target = entry.isSymbolicLink() ? await readlink(from) : from;
    await symlink(target, join(copy, modules, entry.name));
  }
}

beforeAll(() => run('npm', ['run', '-s', 'dev', '--', 'check:tools'], { cwd: root }), 300_000);

it('has an example for each change', () => {
  const titles = new Set(sections.map(({ title }) => title));
  expect([...titles]).toEqual(rows.map(([, title]) => title));
});

it.each(
  sections,
)('applies the example of $title, and runs its commands: $file', async (section) => {
  const diff = await readFile(join(root, section.file), 'utf8');
  const files = [...diff.matchAll(/^diff --git /gm)].length;
  expect(String(files)).toBe(rows.find(([, title]) => title === section.title)?.[2]);

  const folder = await mkdtemp(join(tmpdir(), 'pet-store-changing-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true }));
  const generated = new Set(['.git', 'node_modules', 'dist', 'release', 'data']);
  const filter = (source: string) => !generated.has(basename(source));
  await cp(root, folder, { recursive: true, filter });
  await linkPackages('node_modules', folder);
  await linkPackages('examples/web/node_modules', folder);
  await linkPackages('test/checks/node_modules', folder);
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const commands = section.commands
    .replace(section.first, section.file)
    .replace('npm run check', check);
  const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 };
  const failure = await run('bash', ['-ec', commands], options).then(
    () => '',
    ({ stdout, stderr }) => `${stderr}\n${stdout}`,
  );
  expect(failure).toBe('');
}, 600_000);
