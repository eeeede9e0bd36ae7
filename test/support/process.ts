import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { keepForScan } from './log.ts';
import { shared } from './shared.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `npm start` in the checkout, with this environment and on a free port. */
export function npmStart(env: Record<string, string>) {
  return start('npm', ['start', '--silent'], env);
}

/**
 * The command that this test run has built (`open-shared.ts`), which starts in a third of the time. Outside
 * a test run, the sources.
 */
export const commandPath = async () => (await shared('command')) ?? `${root}src/main.ts`;

/** The variable with the compile cache of the command, if the test run has built it. */
const cacheOf = (path: string) =>
  path.endsWith('.js') ? { NODE_COMPILE_CACHE: join(path, '../../compile-cache') } : {};

/**
 * Runs the gateway as a container does: it receives signals directly, without npm. `maxFileKib`
 * limits the size of the files that it writes.
 */
export async function nodeStart(env: Record<string, string>, maxFileKib?: number) {
  if (maxFileKib === undefined) return untilStarted(await nodeLaunch(env));
  const path = await commandPath();
  const command = `ulimit -f ${maxFileKib}; exec ${process.execPath} ${path}`;
  return start('bash', ['-c', command], { ...cacheOf(path), ...env });
}

/** As `nodeStart`, but does not wait for the banner. */
export async function nodeLaunch(env: Record<string, string>) {
  const path = await commandPath();
  return launch(process.execPath, [path], { ...cacheOf(path), ...env });
}

/** Runs the gateway in a folder other than the checkout. */
export function startIn(folder: string, args: readonly string[], env: Record<string, string>) {
  return start(process.execPath, args, env, folder);
}

/** Runs a shell script whose last command starts a gateway, or a server with another banner. */
export function shellStart(
  folder: string,
  script: string,
  env: Record<string, string>,
  banner?: RegExp,
) {
  return start('bash', ['-ec', script], env, folder, banner);
}

/** Runs a command of the gateway to its end. @returns its exit code and what it printed. */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = root,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const path = await commandPath();
  const options = { cwd, env: { PATH: process.env['PATH'], ...cacheOf(path), ...env } };
  return promisify(execFile)(process.execPath, [path, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

/** Runs a built command, such as the packed package's, with this version of Node or another. */
export function commandStart(path: string, env: Record<string, string>, node = process.execPath) {
  return start(node, [path], env);
}

const start = (...args: Parameters<typeof launch>) => untilStarted(launch(...args));

async function untilStarted({ url, ...launched }: ReturnType<typeof launch>) {
  return { ...launched, url: await url };
}

function launch(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd = root,
  banner = /(?:GraphQL|Local:|Ready on) +(https?:\/\/[^\s/]+)[\s/]/,
) {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(command, args, {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, so that a signal reaches npm, its shell and the gateway.
    detached: true,
  });
  const kill = (signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal);
  const output = { stdout: '', stderr: '' };
  const started = Promise.withResolvers<string>();
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output.stderr += chunk;
    keepForScan(chunk);
  });
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output.stdout += chunk;
    const url = banner.exec(output.stdout)?.[1];
    if (url !== undefined) started.resolve(url);
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    /** The address in the banner, or empty if the process exited without one. */
    url: Promise.race([started.promise, exited.then(() => '')]),
    output,
    exited,
    pid: child.pid ?? 0,
    kill,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) kill('SIGKILL');
      await exited;
    },
  };
}
