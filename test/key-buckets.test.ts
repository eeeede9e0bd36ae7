import { expect, it } from 'vitest';
import { bucketCount, bucketOf } from '../src/key-buckets.ts';

it('spreads credentials and parameters over all buckets', () => {
  const ofKeys = Array.from({ length: 1000 }, (_, index) => bucketOf(`Bearer key-${index}`));
  const ofParameters = Array.from({ length: 1000 }, (_, index) =>
    bucketOf('Bearer k', `/${index}`),
  );
  for (const buckets of [ofKeys, ofParameters]) {
    expect(new Set(buckets).size).toBeGreaterThan(700);
    expect(Math.min(...buckets)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...buckets)).toBeLessThan(bucketCount);
  }
});

it('depends on the last 16 characters of a credential only', () => {
  const end = '0123456789abcdef';
  expect(bucketOf(`Bearer one-${end}`)).toBe(bucketOf(`Bearer another-${end}`));
  expect(bucketOf(`Bearer one-${end}`)).not.toBe(bucketOf(`Bearer one-x${end.slice(1)}`));
});
