import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../telemetry/log.ts';
import { isLocked, isRefusedLogin } from './faults.ts';

/**
 * What a statement does when another session holds a lock: it waits, or it fails within 100 ms and
 * `whenFree` retries it. A server uses `fail`: a waiting statement would block the event loop on
 * SQLite, and one of the pool's few connections on PostgreSQL.
 */
export type OnLock = 'wait' | 'fail';

/** How long to retry by default, in milliseconds. */
const retryTimeoutMs = 5000;

/** The longest pause between two attempts, in milliseconds. */
const maxPauseMs = 100;

interface LockOptions {
  /** How long to wait for a lock, in milliseconds. */
  readonly timeoutMs: number;
  /** Called once, if the first attempt fails because of a lock. */
  readonly onLocked?: () => void;
}

/** How a gateway that starts waits for another process that migrates the tables. */
export const atStart = (log: Log): LockOptions => ({
  timeoutMs: 60_000,
  onLocked: () => log.info({}, 'waiting for a lock of the database, which another process holds'),
});

/**
 * Runs `work`, and retries it for as long as another session holds a lock that it needs, or PgBouncer
 * refuses it, so that a short restart of PostgreSQL is not an outage. Other work continues between the
 * attempts.
 * @throws the error of the last attempt after five seconds, or what `options` has for locks.
 */
export async function whenFree<T>(
  work: () => Promise<T>,
  { timeoutMs, onLocked }: LockOptions = { timeoutMs: retryTimeoutMs },
): Promise<T> {
  const start = performance.now();
  for (let pause = 1; ; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const limitMs = isLocked(error) ? timeoutMs : isRefusedLogin(error) ? retryTimeoutMs : 0;
      if (performance.now() - start >= limitMs) throw error;
      if (isLocked(error) && pause === 1) onLocked?.();
    }
    // The jitter prevents sessions that wait for the same lock from retrying at the same time.
    await wait(pause * (0.5 + Math.random() / 2));
  }
}
