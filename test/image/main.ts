import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from './check.ts';
import { startContainer } from './container.ts';

const usage = `Usage: npm run dev -- test:image

Builds the Dockerfile with buildah, without a container daemon, and runs the image as its own user in a
chroot that is read-only except for /data. Assembles Node's base image from Debian packages and the npm
package node. Requires root and the Debian packages buildah and mmdebstrap.
`;
const root = fileURLToPath(new URL('../..', import.meta.url));

if (process.argv.includes('--help')) {
  process.stdout.write(usage);
} else {
  const missing = ['buildah', 'mmdebstrap'].filter(
    (tool) => spawnSync('which', [tool]).status !== 0,
  );
  if (process.getuid?.() !== 0 || missing.length > 0) {
    const reason = missing.length > 0 ? `install ${missing.join(' and ')}` : 'run as root';
    process.stdout.write(`Image test SKIPPED: ${reason}.\n`);
  } else {
    await testImage();
  }
}

async function testImage(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-image-'));
  const buildah = (...args: string[]) =>
    run('buildah', ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), ...args]);
  try {
    const version = /^ARG NODE_VERSION=(.*)$/m.exec(
      await readFile(join(root, 'Dockerfile'), 'utf8'),
    );
    const base = `docker.io/library/node:${version?.[1]}-slim`;
    const baseSeconds = seconds(() => assembleBase(buildah, folder, base));
    const baseMegabytes = sizeOf(buildah, base);
    const buildSeconds = seconds(() =>
      buildah(...'bud --network host --isolation chroot --tag petstore-gateway'.split(' '), root),
    );
    const added = sizeOf(buildah, 'petstore-gateway') - baseMegabytes;
    process.stdout.write(
      `base assembled in ${baseSeconds} s (${baseMegabytes} MB), image built in ${buildSeconds} s (${added} MB added)\n`,
    );
    const description = JSON.parse(buildah('inspect', '--type', 'image', 'petstore-gateway'));
    const { Env, Entrypoint, WorkingDir, User } = description.OCIv1.config;
    const container = buildah('from', '--pull-never', 'petstore-gateway');
    const files = buildah('mount', container);
    const image = { files, env: Env, entrypoint: Entrypoint, folder: WorkingDir, user: User };
    await check((args, env) => startContainer(image, join(folder, 'data'), args, env));
    process.stdout.write('The image passed all checks.\n');
  } finally {
    buildah('rm', '--all');
    await rm(folder, { recursive: true });
  }
}

/** Assembles an equivalent of Node's slim image: Debian, Node, npm, and the user `node`. */
function assembleBase(buildah: (...args: string[]) => string, folder: string, name: string): void {
  const tar = join(folder, 'debian.tar');
  const options = '--quiet --variant=minbase --include=libatomic1,ca-certificates bookworm';
  run('mmdebstrap', [...options.split(' '), tar]);
  const container = buildah('from', 'scratch');
  const files = buildah('mount', container);
  run('tar', ['--extract', '--file', tar, '--directory', files]);
  run('groupadd', ['--prefix', files, '--gid', '1000', 'node']);
  run('useradd', ['--prefix', files, '--uid', '1000', '--gid', '1000', '--create-home', 'node']);
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(files, to)), { recursive: true });
    copyFileSync(from, join(files, to));
  };
  copy(join(root, 'node_modules/node/bin/node'), 'usr/local/bin/node');
  const npm = join(run('npm', ['root', '--global']), 'npm');
  run('mkdir', ['-p', join(files, 'usr/local/lib/node_modules')]);
  run('cp', ['-aL', npm, join(files, 'usr/local/lib/node_modules/')]);
  run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(files, 'usr/local/bin/npm')]);
  // The npm configuration and the certificates of this machine.
  copy('/etc/ssl/certs/ca-certificates.crt', 'etc/ssl/certs/ca-certificates.crt');
  for (const [kind, to] of [
    ['userconfig', 'root/.npmrc'],
    ['globalconfig', 'usr/local/etc/npmrc'],
  ]) {
    const from = run('npm', ['config', 'get', kind ?? '']);
    if (existsSync(from)) copy(from, to ?? '');
  }
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  buildah('config', '--env', path, container);
  buildah('commit', '--quiet', container, name);
  buildah('rm', container);
}

function sizeOf(buildah: (...args: string[]) => string, image: string): number {
  const bytes = buildah('inspect', '--type', 'image', '--format', '{{.FromImageID}}', image);
  const files = buildah('mount', buildah('from', '--pull-never', bytes));
  return Number(/^\d+/.exec(run('du', ['--summarize', '--block-size=1M', files])) ?? 0);
}

function seconds(work: () => void): number {
  const start = performance.now();
  work();
  return Math.round((performance.now() - start) / 1000);
}

/** Runs a command. @returns its output. @throws with the end of its output when it fails. */
function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    env: { ...process.env, STORAGE_DRIVER: 'vfs' },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout.trim();
  throw error ?? new Error(`${command} ${args.join(' ')}: ${`${stdout}${stderr}`.slice(-2000)}`);
}
