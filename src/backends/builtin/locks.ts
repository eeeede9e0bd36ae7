import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../telemetry/log.ts';
import { isLocked, isNotSent } from './faults.ts';

/** How long locks are waited for, by default and by a gateway that starts, in milliseconds. */
const timeoutMs = { standard: 5000, start: 60_000 };

/** The longest pause between two attempts, in milliseconds. */
const maxPauseMs = 100;

/**
 * Runs `work`, and retries it for as long as another session holds a lock that it needs, or PgBouncer
 * refuses it, so that a short restart of PostgreSQL is not an outage; then throws its error. A gateway
 * that starts passes its log, because it waits longer: another process may migrate the tables.
 */
export async function whenFree<T>(work: () => Promise<T>, startLog?: Log): Promise<T> {
  const start = performance.now();
  for (let pause = 1; ; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const isStart = startLog !== undefined && isLocked(error);
      const isTemporary = isLocked(error) || isNotSent(error);
      const limitMs = isStart ? timeoutMs.start : timeoutMs.standard;
      if (!isTemporary || performance.now() - start >= limitMs) throw error;
      if (isStart && pause === 1) {
        startLog.info({}, 'waiting for a lock of the database, which another process holds');
      }
    }
    // The jitter prevents sessions that wait for the same lock from retrying at the same time.
    await wait(pause * (0.5 + Math.random() / 2));
  }
}
