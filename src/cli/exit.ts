import type { Environment } from '../config/environment.ts';

/** Prints the error and exits. With a `LOG_LEVEL` of `debug` or `trace`, it prints the stack. */
export function fail(env: Environment, error: unknown, exitCode = 1): never {
  const { message, stack } = error as Error;
  const wantsStack = /^(?:debug|trace)$/.test(env['LOG_LEVEL'] ?? '');
  process.stderr.write(`${wantsStack ? stack : message}\n`);
  process.exit(exitCode);
}

/** Exits when the reader of a pipe closes it, as `head` does. */
export function exitOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}
