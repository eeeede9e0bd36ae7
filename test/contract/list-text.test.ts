import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeList } from '../../src/contract/codec.ts';
import { decodeUtf8 } from '../../src/contract/json.ts';
import { createListReader, ListText } from '../../src/contract/list-text.ts';
import { readJson } from '../../src/contract/response-json.ts';
import { operations } from '../../src/petstore/operations.ts';
import { type Pet, pet as petRecord } from '../../src/petstore/records.ts';
import { anyCharacter, fuzzed, fuzzTimeout } from '../support/fuzzed.ts';

type PetsText = ListText<(typeof petRecord)['fields']>;

const readPets = createListReader(operations.listPets.response);

const ids = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 5000 }).map(String) },
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
  { weight: 8, arbitrary: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)) },
  fc.constantFrom(
    ...['"Rex"', '""', '"größer 🐕"', '"}"', '"]"', '",{[:"', '"{\'id\':1}"', '"\u2028\u2029"'],
    ...['"\\u0041"', '"\\ud800"', '"\\"', '"\\\\"', '"a\\"b"', '"\\/"', '"\\x"', '"a"b"'],
    ...['"\t"', '"\u0000"', '"\u001f"', '"\u007f"', '"\ufeff"', '"\ufffd"', '5', 'null', '["a"]'],
  ),
);

const statuses = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('"available"', '"pending"', '"sold"') },
  fc.constantFrom(
    'null',
    '"lost"',
    '"Sold"',
    '"sold',
    '"sold "',
    '""',
    '1',
    'true',
    '"available"sold"',
  ),
);

const values = { int64: ids, text: names, enumeration: statuses };

/** Generates the members of a pet as text; most of them are valid. */
const members = fc
  .record(
    Object.fromEntries(
      Object.values(petRecord.fields).map(({ name, kind }) => [name, values[kind.name]]),
    ),
  )
  .map((texts) => Object.entries(texts).map(([key, text]) => `"${key}":${text}`));

const record = fc.oneof(
  { weight: 12, arbitrary: members },
  members.map((all) => all.slice(0, -1)),
  members.map((all) => all.toReversed()),
  members.map((all) => [...all, '"more":1']),
  members.map((all) => [...all, all.at(-1) ?? '']),
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

/** Returns the pets, or the error of the reader. */
function attempt(read: () => Iterable<unknown>): unknown {
  try {
    return [...read()];
  } catch (error) {
    return String(error);
  }
}

/** Reads a text like the decoder. Returns the pets if they are plain. */
function readLikeDecoder(body: string): PetsText | undefined {
  let own: Iterable<unknown> | undefined;
  const read = attempt(() => (own = readPets(body)));
  expect(read).toEqual(attempt(() => decodeList(operations.listPets.response, readJson(body))));
  return own instanceof ListText ? (own as PetsText) : undefined;
}

const optionalFields = Object.values(petRecord.fields).flatMap(({ name, isRequired }) =>
  isRequired ? [] : [name],
);

/** Writes the strings of each pet without escapes, and with those that JSON needs. */
function expectPlain(pets: PetsText) {
  const written = pets.writeEach(({ id, name, status }) => `["${id}","${name}","${status}"]`);
  const all = [...pets];
  const lacksOne = (pet: Pet) => optionalFields.some((name) => pet[name] == null);
  if (written === undefined) expect(all.some(lacksOne)).toBe(true);
  else {
    const texts = all.map(({ id, name, status }) => [id, name, status]);
    expect(written.text).toBe(JSON.stringify(texts));
  }
}

describe('readPets', () => {
  it(
    'reads any text like the decoder',
    () => {
      const counts = { plain: 0, others: 0 };
      fc.assert(
        fc.property(text, (body) => {
          const plain = readLikeDecoder(body);
          if (plain === undefined) counts.others++;
          else {
            counts.plain++;
            expectPlain(plain);
          }
        }),
        fuzzed(1500),
      );
      expect(counts.plain).toBeGreaterThan(90);
      expect(counts.others).toBeGreaterThan(300);
    },
    fuzzTimeout,
  );

  it(
    'matches names of any characters that need no escape',
    () => {
      const name = fc.string({ unit: anyCharacter, maxLength: 20 });
      fc.assert(
        fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (all) => {
          const lists = all.map((one) => textOf({ name: JSON.stringify(one) }).slice(1, -1));
          const plain = readLikeDecoder(decodeUtf8(Buffer.from(`[${lists}]`)));
          const needsEscape = all.some((one) => JSON.stringify(one) !== `"${one}"`);
          expect(plain === undefined).toBe(needsEscape);
          if (plain) expectPlain(plain);
        }),
        fuzzed(200),
      );
    },
    fuzzTimeout,
  );

  it.each([
    ['a hundred pets', JSON.stringify(pets(100)), true],
    ['more pets than the contract allows', JSON.stringify(pets(101)), false],
    ['the most characters', listOf(64 * 1024), true],
    ['too many characters', listOf(64 * 1024 + 1), false],
    ['a long name without an end', `[{"id":1,"name":"${'x'.repeat(60_000)}`, false],
  ])('reads %s like the decoder', (_, body, isPlain) => {
    expect(readLikeDecoder(body) !== undefined).toBe(isPlain);
  });
});

function pets(count: number): object[] {
  return Array.from({ length: count }, () => JSON.parse(textOf({}))[0]);
}

/** Returns a list of one pet with all fields; these replace the JSON of some. */
function textOf(changed: Readonly<Record<string, string | undefined>>): string {
  const usual = Object.values(petRecord.fields).map(({ name, kind }) => [
    name,
    usualValues[kind.name],
  ]);
  const all = Object.entries({ ...Object.fromEntries(usual), ...changed });
  const present = all.filter(([, value]) => value !== undefined);
  return `[{${present.map(([name, value]) => `"${name}":${value}`)}}]`;
}

const usualValues = { int64: '1', text: '"a"', enumeration: '"sold"' };

/** Returns a list of one pet with this many characters. */
function listOf(length: number): string {
  const pet = textOf({ name: '""' });
  return pet.replace('""', `"${'x'.repeat(length - pet.length)}"`);
}
