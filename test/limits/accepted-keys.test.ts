import { expect, it } from 'vitest';
import { AcceptedKeys } from '../../src/limits/accepted-keys.ts';

it('holds 10,000 keys, and drops the first one first', () => {
  const keys = new AcceptedKeys();
  for (let key = 1; key <= 10_000; key++) keys.add(key);
  keys.add(1);
  expect([keys.has(1), keys.has(10_000), keys.has(10_001)]).toEqual([true, true, false]);
  keys.add(10_001);
  expect([keys.has(1), keys.has(2), keys.has(10_001)]).toEqual([false, true, true]);
});
