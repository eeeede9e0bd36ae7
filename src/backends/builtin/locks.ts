import { setTimeout as wait } from 'node:timers/promises';
import { isLocked, isRefusedLogin } from './faults.ts';

/**
 * What a statement does when another session holds a lock: it waits, or it fails within 100 ms and
 * `whenFree` retries it. A server uses `fail`: a waiting statement would block the event loop on
 * SQLite, and one of the pool's few connections on PostgreSQL.
 */
export type OnLock = 'wait' | 'fail';

/** How long work is retried by default, in milliseconds. */
const defaultTimeoutMs = 5000;

/** How long a start waits for another process that migrates the tables, in milliseconds. */
export const startTimeoutMs = 60_000;

/** The longest pause between two attempts, in milliseconds. */
const maxPauseMs = 100;

/**
 * Runs `work`, and retries it for as long as another session holds a lock that it needs, or PgBouncer
 * refuses it, so that a short restart of PostgreSQL is not an outage. Other work continues between the
 * attempts.
 * @throws the error of the last attempt after `timeoutMs`.
 */
export async function whenFree<T>(
  work: () => Promise<T>,
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  const start = performance.now();
  for (let pause = 1; ; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const isTemporary = isLocked(error) || isRefusedLogin(error);
      if (!isTemporary || performance.now() - start > timeoutMs) throw error;
    }
    // The jitter prevents sessions that wait for the same lock from retrying at the same time.
    await wait(pause * (0.5 + Math.random() / 2));
  }
}
