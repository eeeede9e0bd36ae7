import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInt64 } from '../../src/contract/int64.ts';

describe('parseInt64', () => {
  it('accepts every int64 as a string or a bigint and returns its digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        expect(parseInt64(String(value))).toBe(String(value));
        expect(parseInt64(value)).toBe(String(value));
      }),
    );
  });

  it('rejects integers beyond 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 63n, max: 2n ** 80n }), (value) => {
        expect(parseInt64(String(value))).toBeUndefined();
        expect(parseInt64(value)).toBeUndefined();
        expect(parseInt64(-value - 1n)).toBeUndefined();
      }),
    );
  });

  it('rejects everything else', () => {
    const texts = [
      '',
      ' 1',
      '1 ',
      ...'+1 01 1.0 1e3 0x10 abc --1 - 1/../../store/orders ９'.split(' '),
    ];
    const others = [1.5, Number.NaN, Infinity, 2 ** 53, null, undefined, true, {}, [], ['1']];
    for (const value of [...texts, ...others])
      expect([value, parseInt64(value)]).toEqual([value, undefined]);
  });

  it('returns 0 for negative zero', () => {
    expect(parseInt64('-0')).toBe('0');
    expect(parseInt64(-0)).toBe('0');
  });
});
