import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync } from 'node:fs';

/** A mounted image and its configuration. */
export interface Image {
  readonly files: string;
  readonly env: readonly string[];
  readonly entrypoint: readonly string[];
  readonly folder: string;
  readonly user: string;
}

/**
 * Starts the entry point of an image with these arguments, as the image's user, in a read-only
 * chroot of its files. `/data` is a writable folder outside the chroot, and `/tmp` is empty.
 */
export function startContainer(
  { files, env, entrypoint, folder, user }: Image,
  data: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
) {
  const [uid, gid] = user.split(':');
  mkdirSync(data, { recursive: true });
  chownSync(data, Number(uid), Number(gid));
  const prepare = [
    'mount --bind "$FILES" "$FILES"',
    'mount -o remount,bind,ro "$FILES"',
    'mount -t proc proc "$FILES/proc"',
    'mount -t tmpfs tmpfs "$FILES/tmp"',
    'mount --bind "$DATA" "$FILES/data"',
    `exec chroot --userspec=${user} "$FILES" env --ignore-environment --chdir=${folder} "$@"`,
  ].join(' && ');
  const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const command = [...env, ...settings, ...entrypoint, ...args];
  const child = spawn('unshare', ['--mount', 'sh', '-c', prepare, 'sh', ...command], {
    env: { PATH: process.env['PATH'], FILES: files, DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output.stderr += chunk;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { output, exited, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}
