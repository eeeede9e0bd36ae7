import type { ApiKey } from '../../src/keys/api-key.ts';
import { waitForTurn } from '../../src/limits/turns.ts';

/** Counts the turns of the event loop until it is disposed. */
export function countTurns() {
  const counted = { turns: 0, [Symbol.dispose]: () => clearImmediate(next) };
  const count = () => {
    counted.turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  return counted;
}

/** Gives a key large work for twenty seconds, which its further work waits for, until it is disposed. */
export function holdTurns(key: ApiKey) {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  let left = 20_000;
  const work = () => {
    left--;
    Atomics.wait(clock, 0, 0, 1);
  };
  const leave = Array.from({ length: left }, () => waitForTurn(key, () => work()));
  return {
    isHeld: () => left > 0,
    [Symbol.dispose]: () => leave.forEach((end) => void end()),
  };
}
