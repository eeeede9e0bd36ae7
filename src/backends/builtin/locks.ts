import { setTimeout as wait } from 'node:timers/promises';

/**
 * What a statement does that finds a lock: it waits for it, or fails within a tenth of a second, for
 * `whenFree` to try again. A server must not wait: SQLite would wait inside the event loop, and
 * PostgreSQL with one of the few connections.
 */
export type OnLock = 'wait' | 'fail';

/** How long to try for a lock in all, and the longest pause between two tries, in milliseconds. */
const patience = { total: 5000, pause: 100 };

/**
 * Does work that fails at once when somebody else holds a lock, again and again until the lock is
 * free. Between the tries everything else goes on.
 * @throws the error of the last try when the lock is not free after five seconds.
 */
export async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  for (let pause = 1; ; pause = Math.min(2 * pause, patience.pause)) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || performance.now() - start > patience.total) throw error;
    }
    // Those who wait for the same lock do not come back as one.
    await wait(pause * (0.5 + Math.random() / 2));
  }
}

/** Whether a statement failed, without any effect, because somebody else holds a lock. */
export function isLocked(error: unknown): boolean {
  const { code, errcode = 0 } = error as { code?: string; errcode?: number };
  if (code !== 'ERR_SQLITE_ERROR') return code === lockNotAvailable;
  // The low byte is the primary result code; the rest says where it happened.
  return (errcode & 0xff) === busy || (errcode & 0xff) === locked;
}

/** SQLite's result codes. */
const [busy, locked] = [5, 6];

/** PostgreSQL's SQLSTATE. */
const lockNotAvailable = '55P03';
