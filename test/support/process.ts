import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { keepForScan } from './log.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `npm start` as a person would, with this environment and on a free port. */
export function npmStart(env: Record<string, string>) {
  return start('npm', ['start', '--silent'], env);
}

/** Runs the gateway as a container would: no npm between it and its signals. No file that
 * it writes may grow beyond `maxFileKib`. */
export function nodeStart(env: Record<string, string>, maxFileKib?: number) {
  if (maxFileKib === undefined) return start(process.execPath, ['src/main.ts'], env);
  const command = `ulimit -f ${maxFileKib}; exec ${process.execPath} src/main.ts`;
  return start('bash', ['-c', command], env);
}

/** Runs the gateway from another folder than the checkout. */
export function startIn(folder: string, args: readonly string[], env: Record<string, string>) {
  return start(process.execPath, args, env, folder);
}

/** Runs lines of a shell that end with starting a gateway. */
export function shellStart(folder: string, script: string, env: Record<string, string>) {
  return start('bash', ['-ec', script], env, folder);
}

/** Runs a built command, such as the one of the packed package, on this Node or another. */
export function commandStart(path: string, env: Record<string, string>, node = process.execPath) {
  return start(node, [path], env);
}

async function start(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd = root,
) {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: npm starts a shell that starts the gateway, and all of them must end.
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
    const url = /GraphQL +(http:\S+)\/graphql/.exec(output.stdout)?.[1];
    if (url !== undefined) started.resolve(url);
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const url = await Promise.race([started.promise, exited.then(() => '')]);
  return {
    /** The address that the banner names; empty when the process ended without one. */
    url,
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
