import { expect, it } from 'vitest';
import { bucketCount, bucketOf, hash, keyOf } from '../../src/limits/key.ts';

it('spreads credentials and parameters over all buckets', () => {
  const keys = Array.from({ length: 1000 }, (_, index) => keyOf(`Bearer key-${index}`));
  const ofParameters = Array.from({ length: 1000 }, (_, index) =>
    bucketOf(hash(`/${index}`, keyOf('Bearer k'))),
  );
  for (const buckets of [keys.map(bucketOf), ofParameters]) {
    expect(new Set(buckets).size).toBeGreaterThan(700);
    expect(Math.min(...buckets)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...buckets)).toBeLessThan(bucketCount);
  }
  expect(new Set(keys).size).toBe(1000);
});

it('depends on the last 16 characters of a credential only', () => {
  const end = '0123456789abcdef';
  expect(keyOf(`Bearer one-${end}`)).toBe(keyOf(`Bearer another-${end}`));
  expect(keyOf(`Bearer one-${end}`)).not.toBe(keyOf(`Bearer one-x${end.slice(1)}`));
});

it('is 0 without a credential only', () => {
  expect(keyOf(undefined)).toBe(0);
  expect(keyOf('')).not.toBe(0);
  expect(keyOf(credentialWithHashZero())).toBe(1);
});

/** Returns a credential whose hash is 0: its characters are the digits of -5381 × 33^15 in base 33. */
function credentialWithHashZero(): string {
  let rest = BigInt.asUintN(32, -5381n * 33n ** 15n);
  const characters: string[] = [];
  for (let index = 0; index < 15; index++) {
    characters.unshift(String.fromCharCode(Number(rest % 33n)));
    rest /= 33n;
  }
  return characters.join('');
}
