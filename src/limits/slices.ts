import { FairQueue } from './fair-queue.ts';

/** Work on more bytes or characters than this takes milliseconds: call `nextSlice` before it. */
export const sliceBytes = 64 * 1024;

const waiting = new FairQueue<() => void>();

/**
 * Resolves when the caller may do work that takes milliseconds. One caller may in each turn of the
 * event loop, so that other work runs in between. Keys are served one after the other.
 */
export function nextSlice(key: number): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.isEmpty) setImmediate(startNext);
    waiting.add(key, resolve);
  });
}

function startNext(): void {
  const start = waiting.next();
  if (!waiting.isEmpty) setImmediate(startNext);
  start?.();
}
