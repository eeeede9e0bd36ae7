import type { Log } from './log.ts';

/**
 * Logs requests that are refused due to overload: the first immediately, then a count at most every
 * `intervalMs`.
 */
export function createRefusalLog(log: Pick<Log, 'warn'>, intervalMs = 10_000): () => void {
  let refused = 0;
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    timer = undefined;
    if (refused === 0) return;
    log.warn({ refused }, 'overloaded: requests were refused with 503');
    refused = 0;
    timer = setTimeout(write, intervalMs).unref();
  };
  return () => {
    refused++;
    if (timer === undefined) write();
  };
}
