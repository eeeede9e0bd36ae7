import { setImmediate } from 'node:timers/promises';

/** Work on more bytes or characters than this takes milliseconds: call `nextSlice` before it. */
export const sliceBytes = 64 * 1024;

/** Shared by all gateways of the process, which share its event loop. */
let last = Promise.resolve();

/**
 * Resolves when the caller may do work that takes milliseconds. One caller may in each turn of the
 * event loop, in order of arrival, so that other work runs in between.
 */
export function nextSlice(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
