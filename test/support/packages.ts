import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Copies files of the checkout, for commands that write to it. @returns the path of the copy. */
export async function copySources(from: string, files: readonly string[]): Promise<string> {
  const source = await mkdtemp(join(tmpdir(), 'pet-store-source-'));
  for (const file of files) {
    await cp(join(repository, from, file), join(source, file), {
      recursive: true,
      filter: (path) => !/\/(?:dist|node_modules)$/.test(path),
    });
  }
  await symlink(join(repository, 'node_modules'), join(source, 'node_modules'));
  return source;
}

/** Packs a copy of these files, because two builds in one folder conflict. @returns the tarball's path. */
async function pack(folder: string, from: string, files: readonly string[]): Promise<string> {
  const source = await copySources(from, files);
  const target = join(folder, 'packed', from);
  await mkdir(target, { recursive: true });
  const path = `${join(repository, 'node_modules/.bin')}:${process.env['PATH']}`;
  const { stderr } = await run('npm', ['pack', '--silent', '--pack-destination', target], {
    cwd: source,
    // In tests, rolldown is always quiet.
    env: { ...process.env, PATH: path, NODE_ENV: '', TEST: '' },
  });
  // A list of all chunks would hide a warning.
  if (/chunks.*size/.test(stderr)) throw new Error(`Expected a quiet build, received:\n${stderr}`);
  await rm(source, { recursive: true });
  const name = (await readdir(target)).find((file) => file.endsWith('.tgz')) ?? '';
  return join(target, name);
}

/** Packs the client package with `npm pack`. @returns the path of the tarball. */
export const packClientInto = (folder: string) => pack(folder, 'packages/client', ['.']);

const settings = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'rolldown.config.js'];
const sources = ['src', 'schema', 'deploy', 'packages', 'examples/web/package.json'];

/** What `npm pack` of the gateway needs. */
export const gatewayFiles = [...settings, ...sources, 'README.md', 'LICENSE'];

/** Packs the gateway's package with `npm pack`. @returns the path of the tarball. */
export const packGatewayInto = (folder: string) => pack(folder, '.', gatewayFiles);
