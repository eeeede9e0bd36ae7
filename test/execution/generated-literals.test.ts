import fc from 'fast-check';
import { NoUnusedVariablesRule, parse, specifiedRules, validate } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { compareExecutors } from './differential.ts';

const rules = specifiedRules.filter((rule) => rule !== NoUnusedVariablesRule);

/** Generates mostly valid literals, because one invalid literal makes the whole operation invalid. */
const mostly = (valid: fc.Arbitrary<string>, ...invalid: string[]) =>
  fc.oneof({ weight: 20, arbitrary: valid }, { weight: 1, arbitrary: fc.constantFrom(...invalid) });

const int = mostly(
  fc.oneof(fc.integer().map(String), fc.integer({ min: -2, max: 120 }).map(String)),
  '2147483648',
  '-0',
  'null',
  '1.0',
  '"1"',
);
const id = mostly(
  fc.oneof(
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
    fc.constantFrom('"7"', '"9007199254740993"', '9223372036854775807', '""', '"\\u0037"'),
    fc.constantFrom('"""8"""', '"1.0"', '0'),
  ),
  '-0',
  '1.5',
  'true',
);
const status = mostly(fc.constantFrom('available', 'pending', 'sold'), 'null', 'lost', '"sold"');
const text = mostly(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }).map((value) => JSON.stringify(value)),
    fc.constantFrom('""', '"""\n  block\n    of lines\n"""', '"\\u{1F600}"', '"\\""'),
  ),
  '5',
  'null',
);
const boolean = mostly(fc.constantFrom('true', 'false'), '1');
const input = fc
  .tuple(
    text.map((value) => `name: ${value}`),
    id.map((value) => `categoryId: ${value}`),
    fc.option(
      status.map((value) => `status: ${value}`),
      { nil: '' },
    ),
    fc.boolean(),
  )
  .map(([name, categoryId, state, isReversed]) =>
    isReversed ? `{ ${state} ${categoryId}, ${name} }` : `{ ${name} ${categoryId} ${state} }`,
  );

const literals = fc.record({ int, id, status, text, boolean, input });

/** Generates operations with literals in arguments, input objects and defaults of variables. */
const operation = fc
  .record({ isMutation: fc.boolean(), argument: literals, defaults: literals, inner: literals })
  .map(({ isMutation, argument, defaults, inner }) => {
    const variables = `($int: Int = ${defaults.int}, $id: ID! = ${defaults.id}, $status: PetStatus = ${defaults.status},
      $text: String! = ${defaults.text}, $yes: Boolean! = ${defaults.boolean}, $input: AddPetInput! = ${defaults.input})`;
    const fields = isMutation
      ? `a: addPet(input: ${argument.input}) { id status @include(if: ${argument.boolean}) }
         b: addPet(input: $input) { id @skip(if: $yes) name }
         c: addPet(input: { name: $text, categoryId: ${inner.id}, status: $status }) { id }
         d: addPet(input: { name: ${inner.text}, categoryId: $id }) { id }
         sendMessage(message: ${argument.text}) { id } e: sendMessage(message: $text) { id }`
      : `a: pets(limit: ${argument.int}, status: ${argument.status}) { id }
         b: pets(limit: $int, status: $status) { name @include(if: $yes) id }
         c: pet(id: ${argument.id}) { id } d: pet(id: $id) { id }`;
    return `${isMutation ? 'mutation' : 'query'} ${variables} { ${fields} }`;
  });

const variables = fc.record(
  {
    int: fc.constantFrom<unknown>(3, 0, null, 'wrong'),
    id: fc.constantFrom<unknown>('7', 8, 9_223_372_036_854_775_807n, null),
    status: fc.constantFrom('sold', null, 'lost'),
    text: fc.constantFrom('words', null),
    yes: fc.constantFrom(true, false, null),
    input: fc.constantFrom<unknown>({ name: 'Ada', categoryId: 9_007_199_254_740_993n }, null),
  },
  { requiredKeys: [] },
);

const pet = { id: '1', name: 'Rex', categoryId: '2', status: 'sold' };
const results = {
  listPets: [pet],
  getPet: pet,
  createPet: pet,
  sendMessage: { id: 'm', message: 'text', status: 'queued', createdAt: '2026-11-21T00:00:00Z' },
};

it(
  'reads generated literals and defaults like graphql-js',
  async () => {
    const compared: boolean[] = [];
    await fc.assert(
      fc.asyncProperty(operation, variables, async (source, variableValues) => {
        const document = parse(source);
        // An operation with an invalid literal is not executed.
        if (validate(schema, document, rules).length > 0) return;
        const hasErrors = await compareExecutors(document, variableValues, results);
        if (hasErrors !== undefined) compared.push(hasErrors);
      }),
      fuzzed(3000),
    );
    // Fails if most operations are invalid or not compiled.
    expect(compared.length).toBeGreaterThan(100);
    expect(compared.filter(Boolean).length).toBeGreaterThan(30);
  },
  fuzzTimeout,
);
