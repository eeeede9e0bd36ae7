import { describe, expect, it } from 'vitest';
import { enumeration, int64, type Kind, text } from '../../src/contract/fields.ts';
import { parseJson } from '../../src/contract/json.ts';

const kinds = { int64, text, word: enumeration(['one', 'two']) };

describe('kinds of fields', () => {
  it.each<[keyof typeof kinds, string, unknown]>([
    ['int64', '9223372036854775807', '9223372036854775807'],
    ['int64', '9223372036854775808', undefined],
    ['int64', '"1"', undefined],
    ['text', '"1"', '1'],
    ['text', '1', undefined],
    ['word', '"two"', 'two'],
    ['word', '"three"', undefined],
  ])('%s %s', (kind, json, value) => {
    expect(kinds[kind].parse(parseJson(json))).toBe(value);
  });

  it.each<[keyof typeof kinds, string]>([
    ['int64', '0 -1 999999999999999999 -9199999999999999999'],
  ])('match JSON of %s that JSON.stringify writes in the same way', (kind, valid) => {
    const { pattern, parse }: Kind = kinds[kind];
    for (const json of valid.split(' ')) {
      expect(json).toMatch(new RegExp(`^(?:${pattern})$`));
      expect(String(parse(parseJson(json)))).toBe(json);
    }
    for (const json of '-0 00 01 1. .5 1e3 9223372036854775808 0.0000001 1.50'.split(' ')) {
      expect(json).not.toMatch(new RegExp(`^(?:${pattern})$`));
    }
  });
});
