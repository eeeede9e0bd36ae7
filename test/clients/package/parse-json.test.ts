import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../packages/client/src/index.ts';

describe('parseJson', () => {
  it('keeps the digits of integers beyond 2^53, as strings', () => {
    const text = '{"orders":[9007199254740991, 9007199254740993,-9223372036854775808]}';
    expect(parseJson(text)).toEqual({
      orders: [9007199254740991, '9007199254740993', '-9223372036854775808'],
    });
  });

  it('leaves strings, names and other numbers as they are', () => {
    const text = String.raw`{"\"9007199254740993":["a\\\"9007199254740993,","\\",1234567890123456.5,-1e20,12e-1]}`;
    expect(parseJson(text)).toEqual(JSON.parse(text));
    const long = JSON.stringify('\n9007199254740993'.repeat(500_000));
    expect(parseJson(long)).toBe(JSON.parse(long));
  });

  it.each([
    '',
    '{"a":',
    '["9007199254740993',
    '[9007199254740993',
    '[09007199254740993]',
  ])('throws a SyntaxError for %j', (text) => expect(() => parseJson(text)).toThrow(SyntaxError));
});
