import { bucketOf } from './key-buckets.ts';

/**
 * Parsing or writing more than this, in bytes or characters, takes milliseconds: call `takeTurn`.
 */
export const turnBytes = 64 * 1024;

/** The queue of each key that waits, in the order in which keys get their turns. */
const queues = new Map<number, (() => void)[]>();

/**
 * Resolves when the caller may do work that takes milliseconds. Each turn of the event loop admits
 * one caller, so that other work runs in between. Keys take turns, so that no key waits for all the
 * work of another. Callers without a key share one queue.
 */
export function takeTurn(authorization: string | undefined): Promise<void> {
  const bucket = bucketOf(authorization ?? '');
  return new Promise((resolve) => {
    const queue = queues.get(bucket);
    if (queue !== undefined) return void queue.push(resolve);
    if (queues.size === 0) setImmediate(admitNext);
    queues.set(bucket, [resolve]);
  });
}

function admitNext(): void {
  const [first] = queues;
  if (first === undefined) return;
  const [bucket, queue] = first;
  const next = queue.shift();
  queues.delete(bucket);
  if (queue.length > 0) queues.set(bucket, queue);
  if (queues.size > 0) setImmediate(admitNext);
  next?.();
}
