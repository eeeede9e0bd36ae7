import util from 'node:util';
import type { Environment } from '../config/environment.ts';
import { commandLine } from './command-line.ts';

/** Prints the error and exits. With a `LOG_LEVEL` of `debug` or `trace`, it prints the stack. */
export function fail(env: Environment, error: unknown, exitCode = 1): never {
  const { stack } = error as Error;
  const message = describe(error as Error).replace(/(?<= with: )keys .*/, commandLine);
  const wantsStack = /^(?:debug|trace)$/.test(env['LOG_LEVEL'] ?? '');
  process.stderr.write(`${wantsStack ? stack : message}\n`);
  process.exit(exitCode);
}

/** Describes an error of the system in words: its own message has a code, and how it was called. */
function describe({ message, errno, path, cause }: NodeJS.ErrnoException): string {
  if (cause instanceof Error) return message.replace(cause.message, () => describe(cause));
  return errno && path ? `${path}: ${util.getSystemErrorMessage(errno)}` : message;
}

/** Exits when standard output cannot be written: with 0 if the reader of a pipe closed it, as `head` does. */
export function exitOnFailedOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  fail({}, Object.assign(error, { path: 'standard output' }));
}
