import { expect, it } from 'vitest';
import { takeTurn } from '../src/turns.ts';
import { countTurns } from './support/turns.ts';

it('admits one caller per turn of the event loop', async () => {
  using counted = countTurns();
  const seen: number[] = [];
  await Promise.all(
    Array.from({ length: 5 }, () => takeTurn('Bearer one').then(() => seen.push(counted.turns))),
  );
  expect(new Set(seen).size).toBe(5);
});

it('alternates between keys, and treats callers without a key as one', async () => {
  const order: (string | undefined)[] = [];
  const keys = ['Bearer a', 'Bearer a', 'Bearer a', undefined, undefined, 'Bearer b'];
  await Promise.all(keys.map((key) => takeTurn(key).then(() => order.push(key))));
  expect(order).toEqual(['Bearer a', undefined, 'Bearer b', 'Bearer a', undefined, 'Bearer a']);
});
