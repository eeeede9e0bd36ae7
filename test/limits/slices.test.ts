import { expect, it } from 'vitest';
import { nextSlice } from '../../src/limits/slices.ts';
import { countTurns } from '../support/turns.ts';

it('lets one caller work per turn of the event loop', async () => {
  using counted = countTurns();
  const seen: number[] = [];
  await Promise.all(
    Array.from({ length: 5 }, () => nextSlice(1).then(() => seen.push(counted.turns))),
  );
  expect(new Set(seen).size).toBe(5);
});

it('alternates between keys, and treats callers without a key as one', async () => {
  const order: number[] = [];
  const keys = [1, 1, 1, 0, 0, 2];
  await Promise.all(keys.map((key) => nextSlice(key).then(() => order.push(key))));
  expect(order).toEqual([1, 0, 2, 1, 0, 1]);
});
