import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePets } from '../../src/contract/codec.ts';
import { decodeUtf8, parseJson } from '../../src/contract/json.ts';
import { PetsText, petsFormat } from '../../src/contract/pets-text.ts';
import type { Pet } from '../../src/contract/records.ts';

const ids = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 5000 }).map(String) },
  { weight: 2, arbitrary: fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String) },
  fc.constantFrom(
    ...['0', '-0', '-1', '01', '-01', '00', '1.0', '1e3', '1E3', '-', '', '+1', '"1"', 'null'],
    ...['999999999999999999', '1000000000000000000', '9007199254740993', '-9007199254740993'],
    ...['9199999999999999999', '9200000000000000000', '9223372036854775807', '9223372036854775808'],
    ...['-9199999999999999999', '-9223372036854775808', '-9223372036854775809'],
    ...['99999999999999999999', '12345678901234567890123', 'true', '[1]', '{}', '1,"id":2'],
  ),
);

const names = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)) },
  fc.constantFrom(
    ...['"Rex"', '""', '"größer 🐕"', '"}"', '"]"', '",{[:"', '"{\'id\':1}"', '"\u2028\u2029"'],
    ...['"\\u0041"', '"\\ud800"', '"\\"', '"\\\\"', '"a\\"b"', '"\\/"', '"\\x"', '"a"b"'],
    ...['"\t"', '"\u0000"', '"\u001f"', '"\u007f"', '"\ufeff"', '"\ufffd"', '5', 'null', '["a"]'],
  ),
);

const statuses = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('"available"', '"pending"', '"sold"', 'null') },
  fc.constantFrom('"lost"', '"Sold"', '"sold', '"sold "', '""', '1', 'true', '"available"sold"'),
);

/** Generates the members of an animal as text; most of them are valid. */
const members = fc
  .record({ id: ids, name: names, categoryId: ids, status: statuses })
  .map((texts) => Object.entries(texts).map(([key, text]) => `"${key}":${text}`));

const record = fc.oneof(
  { weight: 12, arbitrary: members },
  { weight: 4, arbitrary: members.map((all) => all.slice(0, 3)) },
  members.map((all) => all.toReversed()),
  members.map((all) => [...all, '"more":1']),
  members.map((all) => [...all, all[3] ?? '']),
  members.map((all) => [...all, '"id":7']),
  members.map((all) => [...all, '"__proto__":{"id":1}']),
  members.map((all) => all.slice(1)),
  members.map((all) => all.slice(0, 2)),
);

const list = fc
  .array(
    record.map((all) => `{${all.join(',')}}`),
    { maxLength: 4 },
  )
  .map((records) => `[${records.join(',')}]`);

/** Generates lists, some with characters removed, added or replaced in one place. */
const text = fc.oneof(
  { weight: 3, arbitrary: list },
  fc
    .tuple(
      list,
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.constantFrom('', ...' \n\t,:{}[]"\\0-1en\u0001\ufeff'),
    )
    .map(([whole, place, removed, added]) => {
      const at = place % (whole.length + 1);
      // Text decoded from UTF-8 has no lone surrogates.
      return (whole.slice(0, at) + added + whole.slice(at + removed)).toWellFormed();
    }),
);

const propertyNames = ['id', 'name', 'categoryId', 'status'] as const;
const selection = fc.array(fc.constantFrom(...propertyNames), { maxLength: 6 });

/** Stringifies objects with the selected members of each animal. */
function expectedText(pets: readonly Pet[], selected: readonly (keyof Pet)[]): string {
  return JSON.stringify(
    pets.map((pet) =>
      Object.fromEntries(selected.map((name, index) => [`m${index}`, pet[name] ?? null])),
    ),
  );
}

/** Writes the same JSON with `PetsText`. */
function write({ text }: PetsText, selected: readonly (keyof Pet)[]): string | undefined {
  const quotes = selected.map((name) => (petsFormat.properties[name] === 'digits' ? '"' : ''));
  const literals = [...selected, ''].map((_, index) => {
    const isEnd = index === selected.length;
    const separator = index === 0 ? '{' : isEnd ? '' : ',';
    return `${quotes[index - 1] ?? ''}${separator}${isEnd ? '}' : `"m${index}":${quotes[index]}`}`;
  });
  if (selected.length === 0) literals.splice(0, 1, '{}');
  return petsFormat.createWriter(literals, selected)(text)?.text;
}

describe('a list of animals as text', () => {
  it('has the same result as the decoder in every selection, or is not matched', () => {
    const counts = { matched: 0, unmatched: 0 };
    fc.assert(
      fc.property(text, selection, (body, selected) => {
        const own = PetsText.match(body);
        if (own === undefined) {
          counts.unmatched++;
          return;
        }
        counts.matched++;
        const pets = decodePets(parseJson(body));
        expect([...own]).toEqual(pets);
        expect(write(own, selected)).toBe(expectedText(pets, selected));
      }),
      { numRuns: 5000, seed: 20261121 },
    );
    expect(counts.matched).toBeGreaterThan(1000);
    expect(counts.unmatched).toBeGreaterThan(1000);
  }, 60_000);

  it('can contain any characters that need no escape', () => {
    const name = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), (all) => {
        const animals = all.map((one, id) => ({ id, name: one, categoryId: -id, status: 'sold' }));
        const bytes = Buffer.from(JSON.stringify(animals));
        const own = PetsText.match(decodeUtf8(bytes));
        const needsEscape = all.some((one) => JSON.stringify(one) !== `"${one}"`);
        expect(own === undefined).toBe(needsEscape);
        if (own !== undefined) {
          const pets = decodePets(parseJson(decodeUtf8(bytes)));
          expect(write(own, propertyNames)).toBe(expectedText(pets, propertyNames));
        }
      }),
      { numRuns: 500, seed: 20261121 },
    );
  }, 60_000);

  it.each([
    ['no animals', '[]'],
    ['an absent status', '[{"id":1,"name":"a","categoryId":2}]'],
    ['a null status', '[{"id":1,"name":"a","categoryId":2,"status":null}]'],
    ['ids beyond 2^53', '[{"id":9007199254740993,"name":"a","categoryId":-9007199254740993}]'],
    ['ids of 19 digits', '[{"id":1234567890123456789,"name":"a","categoryId":2}]'],
    ['a hundred animals', JSON.stringify(animals(100))],
  ])('is matched with %s', (_, body) => {
    const pets = PetsText.match(body);
    expect(pets).toBeDefined();
    expect([...(pets ?? [])]).toEqual(decodePets(parseJson(body)));
  });

  it.each([
    ['more animals than the contract allows', JSON.stringify(animals(101))],
    ['more characters than the limit', longList(64 * 1024)],
    ['spaces', '[{"id": 1, "name": "a", "categoryId": 2}]'],
    ['an id beyond 64 bits', '[{"id":9223372036854775808,"name":"a","categoryId":2}]'],
    ['negative zero', '[{"id":-0,"name":"a","categoryId":2}]'],
    ['an escape', '[{"id":1,"name":"\\u0061","categoryId":2}]'],
    ['a lone surrogate', '[{"id":1,"name":"\\ud800","categoryId":2}]'],
  ])('is not matched with %s', (_, body) => {
    expect(PetsText.match(body)).toBeUndefined();
  });

  it('is written up to 256 KiB', () => {
    const pets = PetsText.match(longList(60_000));
    if (pets === undefined) throw new Error('expected a match');
    const repeated = (count: number) => Array.from({ length: count }, () => 'name' as const);
    expect(write(pets, repeated(4)) === expectedText([...pets], repeated(4))).toBe(true);
    expect(write(pets, repeated(5))).toBeUndefined();
    expect(write(pets, propertyNames) === expectedText([...pets], propertyNames)).toBe(true);
  });

  it('is matched up to the maximum length', () => {
    const longest = 64 * 1024 - longList(0).length;
    expect(PetsText.match(longList(longest))).toBeDefined();
    expect(PetsText.match(longList(longest + 1))).toBeUndefined();
    expect(PetsText.match(`[{"id":1,"name":"${'x'.repeat(60_000)}`)).toBeUndefined();
  });
});

function animals(count: number): object[] {
  return Array.from({ length: count }, (_, id) => ({ id, name: 'a', categoryId: 1 }));
}

/** Returns a list of one animal with a name of this length. */
function longList(length: number): string {
  return JSON.stringify([{ id: 1, name: 'x'.repeat(length), categoryId: 2 }]);
}
