import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { it } from 'vitest';
import { createFolder } from './folder.ts';
import { type Shared, shared } from './shared.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));
const declared = join(repository, 'test/consumers');

/** The installed packages of test/consumers, by user and lock file. Test runs reuse the folder. */
const lock = createHash('sha256').update(readFileSync(join(declared, 'package-lock.json')));
const version = `${process.getuid?.()}-${lock.digest('hex').slice(0, 16)}`;
export const installed = join(tmpdir(), `petstore-consumers-${version}`);

/**
 * Installs test/consumers unless it is installed. @returns false, with a message, if that fails.
 */
async function install(): Promise<boolean> {
  if (existsSync(installed)) return true;
  const folder = await mkdtemp(`${installed}-`);
  try {
    await cp(declared, folder, { recursive: true });
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    await rename(folder, installed);
    return true;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    // Another test file may have installed the packages first.
    if (existsSync(installed)) return true;
    const [line] = String((error as Error).message).split('\n');
    process.stderr.write(
      `Tests with other packages are SKIPPED: cannot install test/consumers. ${line}\n`,
    );
    return false;
  }
}

/** Whether the packages of test/consumers are installed. */
export const isConsumerInstalled = await install();

/** A test that needs the packages of test/consumers. It is skipped if they cannot be installed. */
export const consumerTest = it.skipIf(!isConsumerInstalled);

/** Copies a package that this run has packed to a folder. @returns the tarball's path. */
async function copyPackage(name: Shared, folder: string): Promise<string> {
  const tarball = (await shared(name)) ?? '';
  const copy = join(folder, basename(tarball));
  await cp(tarball, copy);
  return copy;
}

/** Packs the client package with `npm pack`. @returns the path of the tarball. */
export const packClient = (folder: string) => copyPackage('client-package', folder);

/** Packs the gateway's package with `npm pack`. @returns the path of the tarball. */
export const packGateway = (folder: string) => copyPackage('gateway-package', folder);

/** Unpacks a package that this run has packed into a project. */
async function unpack(packed: Shared, root: string, name: string): Promise<void> {
  const folder = join(root, 'node_modules', name);
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xzf', (await shared(packed)) ?? '', '-C', folder, '--strip-components=1']);
}

const typeScript5 = join(installed, 'node_modules/typescript-5/bin/tsc');
const typeScript7 = join(repository, 'node_modules/typescript/bin/tsc');

/** Runs Node with these arguments. @returns its output, whatever the exit code. */
async function print(cwd: string, args: readonly string[]): Promise<string> {
  const child = await run(process.execPath, args, { cwd }).catch((error) => error);
  return child.stdout + child.stderr;
}

/** Runs commands up to the first failure, with both sets of binaries. @returns their output. */
async function printShell(cwd: string, commands: readonly string[]): Promise<string> {
  const bins = [installed, repository].map((root) => join(root, 'node_modules/.bin'));
  const PATH = [...bins, process.env['PATH']].join(':');
  const script = commands.map((command) => command.replace(/^npx /, '')).join(' && ');
  const options = { cwd, env: { ...process.env, PATH, NODE_OPTIONS: '' } };
  const child = await run('sh', ['-c', script], options).catch((error) => error);
  return child.stdout + child.stderr;
}

interface Project {
  /** Names of packages that the repository has installed. */
  readonly ours?: readonly string[];
  /** Names of packages that test/consumers has installed. */
  readonly theirs?: readonly string[];
  /** File contents by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether it has the packed client; true by default. */
  readonly hasClient?: boolean;
  /** Whether it has the packed gateway; false by default. */
  readonly hasGateway?: boolean;
}

/** Creates projects in a folder, which is removed after the tests of the calling file. */
export function createConsumer() {
  const folder = createFolder();

  return {
    /** Creates a project with these files and links to these packages. */
    async project({ ours = [], theirs = [], files = {}, hasClient = true, hasGateway }: Project) {
      const root = await mkdtemp(join(folder, 'project-'));
      if (hasClient) await unpack('client-package', root, 'petstore-gateway-client');
      if (hasGateway) await unpack('gateway-package', root, 'petstore-gateway');
      const link = async (places: readonly string[], names: readonly string[]) => {
        for (const name of names) {
          const sources = places.map((place) => join(place, 'node_modules', name));
          const path = join(root, 'node_modules', name);
          await mkdir(dirname(path), { recursive: true });
          await symlink(sources.find(existsSync) ?? '', path);
        }
      };
      await link([repository, join(repository, 'examples/web')], ours);
      await link([installed], theirs);
      const written = { 'package.json': '{ "type": "module" }', ...files };
      for (const [name, text] of Object.entries(written)) {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), text);
      }
      return {
        root,
        /** Runs Node. @returns its output. */
        node: (...args: string[]) => print(root, args),
        /** Runs these commands one after the other. @returns their output. */
        shell: (commands: readonly string[]) => printShell(root, commands),
        /** Runs this version of TypeScript. @returns its output, which is empty without errors. */
        tsc: (version: string, ...args: string[]) =>
          print(root, [version === '5.9' ? typeScript5 : typeScript7, ...args]),
      };
    },
  };
}

/** Returns the number of bytes of all files in a folder. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(
    async ({ parentPath, name }) => (await stat(join(parentPath, name))).size,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size);
}
