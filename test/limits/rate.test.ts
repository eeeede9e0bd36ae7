import { expect, it } from 'vitest';
import { ApiKey } from '../../src/keys/api-key.ts';
import { Rate } from '../../src/limits/rate.ts';

it('leaves nothing, and not less, of a full bucket that has served more than it holds', () => {
  const rate = new Rate(10);
  const key = new ApiKey('key');
  expect(rate.take(key, 2500)).toBe(true);
  expect(rate.left(key).tokens).toBe(0);
  expect(rate.take(key)).toBe(false);
});
