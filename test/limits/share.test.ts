import { expect, it } from 'vitest';
import { type Release, Share } from '../../src/limits/share.ts';

const release = expect.any(Function);

it('limits what one key takes, and what all keys take together', () => {
  const share = new Share('bytes', { total: 100, perKey: 60 });
  expect(share.take(1, 61)).toBe('key');
  expect(share.take(1, 60)).toEqual(release);
  expect(share.take(1)).toBe('key');
  expect(share.take(2, 41)).toBe('all');
  expect(share.take(2, 40)).toEqual(release);
  expect(share.take(3)).toBe('all');
  expect(share.used).toBe(100);
  expect(share.refused).toEqual({ key: 2, all: 2 });
});

it('gives exactly what is released to the next', () => {
  const share = new Share('bytes', { total: 100, perKey: 60 });
  const releases = [share.take(1, 50), share.take(1, 10), share.take(2, 40)] as Release[];
  releases[1]?.();
  expect(share.refuses(1, 11)).toBe('key');
  expect(share.refuses(2, 11)).toBe('all');
  expect(share.refuses(1, 10)).toBeUndefined();
  releases[0]?.();
  releases[2]?.();
  expect(share.used).toBe(0);
  expect(share.refuses(1, 60)).toBeUndefined();
  // Asking is no refusal.
  expect(share.refused).toEqual({ key: 0, all: 0 });
});

it('tells keys apart by their lowest 12 bits, also negative ones', () => {
  const share = new Share('requests', { total: 10, perKey: 1 });
  share.take(-1);
  expect(share.take(4095)).toBe('key');
  expect(share.take(4094)).toEqual(release);
});
