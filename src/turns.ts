import { placeOf } from './places.ts';

/** What is larger, in bytes or characters, takes a turn: to parse or to write it takes milliseconds. */
export const turnBytes = 64 * 1024;

/** Those who wait for a turn, by the place of their key; keys whose turn is next come first. */
const lines = new Map<number, (() => void)[]>();

/**
 * Resolves when it is the caller's turn to do work of some milliseconds. There is one such piece of
 * work per turn of the event loop, so that everything else goes on between two of them, and keys
 * alternate, so that one key's work does not wait for all of another's. Callers without a key are one.
 */
export function takeTurn(authorization: string | undefined): Promise<void> {
  const place = placeOf(authorization ?? '');
  return new Promise((resolve) => {
    const line = lines.get(place);
    if (line !== undefined) return void line.push(resolve);
    if (lines.size === 0) setImmediate(giveTurn);
    lines.set(place, [resolve]);
  });
}

function giveTurn(): void {
  const [first] = lines;
  if (first === undefined) return;
  const [place, line] = first;
  const next = line.shift();
  lines.delete(place);
  if (line.length > 0) lines.set(place, line);
  if (lines.size > 0) setImmediate(giveTurn);
  next?.();
}
