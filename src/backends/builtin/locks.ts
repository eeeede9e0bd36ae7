import { setTimeout as wait } from 'node:timers/promises';

/**
 * What a statement does when another session holds a lock: it waits, or it fails within 100 ms and
 * `whenFree` tries again. A server must not wait: SQLite would block the event loop, and PostgreSQL
 * one of its few connections.
 */
export type OnLock = 'wait' | 'fail';

/** The total time to try, and the longest pause between two attempts, in milliseconds. */
const patience = { total: 5000, pause: 100 };

/**
 * Runs work that fails if another session holds a lock, and repeats it until the lock is free. Other
 * work continues between the attempts.
 * @throws the error of the last attempt if the lock is not free after five seconds.
 */
export async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  for (let pause = 1; ; pause = Math.min(2 * pause, patience.pause)) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || performance.now() - start > patience.total) throw error;
    }
    // The jitter keeps sessions that wait for the same lock from retrying in step.
    await wait(pause * (0.5 + Math.random() / 2));
  }
}

/** Whether a statement failed without effect because another session holds a lock. */
export function isLocked(error: unknown): boolean {
  const { code, errcode = 0 } = error as { code?: string; errcode?: number };
  if (code !== 'ERR_SQLITE_ERROR') return code === lockNotAvailable;
  // The low byte is the primary result code; the other bytes are details.
  return (errcode & 0xff) === busy || (errcode & 0xff) === locked;
}

/** SQLite's result codes. */
const [busy, locked] = [5, 6];

/** PostgreSQL's SQLSTATE. */
const lockNotAvailable = '55P03';
