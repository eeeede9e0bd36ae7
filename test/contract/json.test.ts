import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, sizeOfJson, stringifyJson } from '../../src/contract/json.ts';
import { fuzzed } from '../support/fuzzed.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** Generates JSON texts with integers of any size at any depth. */
const jsonText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    int64.map(String),
    fc.constantFrom('null', 'true', 'false', '0.5', '-1.25'),
    // Decimals with more digits than a double can represent, with or without an exponent.
    fc
      .tuple(
        fc.stringMatching(/^-?[1-9][0-9]{0,20}\.[0-9]{1,20}[1-9]$/),
        fc.constantFrom('', 'e-300', 'e-1', 'e0', 'e100', 'e500'),
      )
      .map((parts) => parts.join(''))
      .filter(hasManyDigits),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(fc.string().filter(notIndex), tie('value')), {
        maxLength: 4,
        selector: ([key]) => key,
      })
      .map((entries) => `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${v}`).join(',')}}`),
  ),
})).value;

/**
 * Shorter decimals can change their notation (1.0 becomes 1), because the number stays the same.
 */
function hasManyDigits(decimal: string): boolean {
  return decimal.replace(/e.*/, '').replace(/\D/g, '').length > 17;
}

/** JavaScript reorders keys that are array indices, and does not set `__proto__`. */
function notIndex(key: string): boolean {
  return !/^\d+$/.test(key) && key !== '__proto__';
}

describe('JSON', () => {
  it('is unchanged by parse and stringify', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
      fuzzed(1000),
    );
  });

  it.each(
    `9223372036854775807 -9223372036854775808 9007199254740993 10000000000000000
    123456789012345678901234567890 0.12345678901234567890 1e400 1e-400 9.0071992547409931e15
    1.5e400 999999999999999.99999 1.00000000000000001`.split(/\s+/),
  )('preserves the notation of %s', (text) => {
    expect(stringifyJson(parseJson(`{"a":[${text}]}`))).toBe(`{"a":[${text}]}`);
  });

  it('parses an integer of up to nineteen digits in any notation to its digits', () => {
    const shifted = ([value, zeros, moved]: readonly [bigint, number, number]) => {
      const [sign, digits] = value < 0n ? ['-', String(-value)] : ['', String(value)];
      const padded = digits.padStart(moved + 1, '0');
      const whole = padded.slice(0, padded.length - moved);
      const fraction = padded.slice(padded.length - moved) + '0'.repeat(zeros);
      return `${sign}${whole}${fraction && `.${fraction}`}e${moved}`;
    };
    const input = fc.tuple(int64, fc.nat(30), fc.nat(30));
    const check = ([value, ...rest]: readonly [bigint, number, number]) => {
      const text = shifted([value, ...rest]);
      const parsed = parseJson(`[${text}]`);
      const isSafe = Number.isSafeInteger(Number(value));
      expect([text, parsed]).toEqual([text, [isSafe ? Number(value) : value]]);
      const zeros = 10n ** BigInt(rest[0]);
      expect(parseJson(`${value * zeros}e-${rest[0]}`)).toBe(isSafe ? Number(value) : value);
    };
    fc.assert(fc.property(input, check), fuzzed(1000));
  });

  it.each([
    ['1.000000000000000', 1],
    ['9007199254740993.0', 9007199254740993n],
    ['1e18', 1_000_000_000_000_000_000n],
    ['-9.007199254740993E+15', -9007199254740993n],
    ['9007199254740991.000000000000000000', 9007199254740991],
    ['-0.0000000000000000', -0],
    ['0e999999999', 0],
    [`0.${'0'.repeat(400)}1e401`, 1],
    [`1${'0'.repeat(400)}e-400`, 1],
    ['6.02214076e23', 6.02214076e23],
  ])('parses %s', (text, value) => {
    expect(parseJson(`[${text}]`)).toEqual([value]);
  });

  it.each([
    '1e999999999',
    '-1e-999999999',
    `1e${'9'.repeat(200_000)}`,
    `${'9'.repeat(200_000)}.0`,
    `1.${'0'.repeat(200_000)}1`,
    `1${'0'.repeat(200_000)}1e-3`,
  ])('keeps the text of a number that is too long to expand, in time: %#', (text) => {
    const start = performance.now();
    expect(stringifyJson(parseJson(`[${text}]`))).toBe(`[${text}]`);
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it('finds a number that a double cannot represent at any position', () => {
    for (let offset = 0; offset < 33; offset++) {
      for (const number of ['9007199254740993', '0.1234567890123456', '1E400']) {
        const text = `["${'x'.repeat(offset)}",${number}]`;
        expect(stringifyJson(parseJson(text))).toBe(text);
      }
    }
  });

  it('parses numbers that a double represents as numbers in any notation, integers beyond 2^53 as bigints', () => {
    expect(parseJson('[1e3, 1.0, 1.50, 9007199254740991, 9007199254740992]')).toEqual([
      ...[1000, 1, 1.5, 9007199254740991, 9007199254740992n],
    ]);
  });

  it('reads large numbers in members of any name', () => {
    const text =
      '{"__proto__":{"a":9007199254740993},"2":9007199254740993,"b":[{"":0.12345678901234567890}]}';
    expect(stringifyJson(parseJson(text))).toBe(
      '{"2":9007199254740993,"__proto__":{"a":9007199254740993},"b":[{"":0.12345678901234567890}]}',
    );
  });

  it.each([
    ...['{', '[1234567890123456789', '{9007199254740993:1}', '{9007199254740993 \n:1}'],
    ...['[09007199254740993]', '[9007199254740993.]', '[9007199254740993-1]'],
    ...['[+9007199254740993]', '[true9007199254740993]', '["a"9007199254740993]'],
    ...['[9007199254740993"a"]', '[9007199254740993 9007199254740993]'],
  ])('rejects %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('reads at least 500 levels around a number that a double cannot represent', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`;
    expect(stringifyJson(parseJson(nested(500)))).toBe(nested(500));
    expect(() => parseJson(nested(100_000))).toThrow(SyntaxError);
  });

  it.each([
    ['[1,{"a,[":[]},"[[,"]', 6, 3],
    ['"\\\\",[[]]', 4, 2],
    ['["\\",[[["]', 2, 1],
    [`[${Array(600).fill('{}').join()}]`, 1201, 2],
    ['"[[,', 1, 0],
  ])('has its values and levels counted without strings: %s', (text, values, depth) => {
    expect(sizeOfJson(text)).toEqual({ values, depth });
  });

  it('throws a TypeError on a circular value', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(() => stringifyJson(circle)).toThrow(TypeError);
  });
});
