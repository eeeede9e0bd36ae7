import fc from 'fast-check';
import {
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { expect, it } from 'vitest';
import { InvalidResponseError } from '../../src/contract/error.ts';
import { JsonText } from '../../src/contract/json.ts';
import { readPets } from '../../src/contract/pets-text.ts';
import { petFields } from '../../src/contract/records.ts';
import { compileOperation } from '../../src/execution/compile.ts';
import { executeFallback } from '../../src/execution/fallback-executor.ts';
import { schema } from '../../src/graphql/schema.ts';
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { comparable } from './differential.ts';
import { storeOf } from './recorded-store.ts';

/** Generated operations declare all variables and fragments, used or not. */
const rules = specifiedRules.filter(
  (rule) => rule !== NoUnusedVariablesRule && rule !== NoUnusedFragmentsRule,
);

const maybe = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

const condition = fc
  .tuple(
    fc.constantFrom('skip', 'include'),
    fc.constantFrom('true', 'false', '$yes', '$no', '$optional'),
  )
  .map(([directive, value]) => ` @${directive}(if: ${value})`);
const directives = maybe(
  fc.uniqueArray(condition, { selector: (text) => text.slice(0, 4), maxLength: 2 }),
  [],
).map((texts) => texts.join(''));

const alias = maybe(fc.constantFrom('a: ', 'b: ', 'id: ', '__proto__: '), '');

/** Generates selection sets of a type from these fields and fragment spreads. */
function selections(type: string, fields: fc.Arbitrary<string>, spreads: readonly string[]) {
  const { set } = fc.letrec<{ set: string; fragment: string }>((tie) => ({
    fragment: fc
      .tuple(fc.constantFrom(`... on ${type}`, '...'), directives, tie('set'))
      .map((parts) => parts.join(' ')),
    set: fc
      .array(
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fields,
          fc.tuple(fc.constantFrom(...spreads), directives).map((parts) => parts.join('')),
          tie('fragment'),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((texts) => `{ ${texts.join(' ')} }`),
  }));
  return set;
}

function leaves(...names: string[]) {
  return fc
    .tuple(alias, fc.constantFrom('__typename', ...names), directives)
    .map((parts) => parts.join(''));
}

const pet = selections('Pet', leaves(...Object.keys(petFields)), ['...Card', '...Nested']);
const message = selections('Message', leaves('id', 'message', 'status', 'createdAt'), ['...Note']);

function calls(texts: readonly string[], set: fc.Arbitrary<string>) {
  return fc
    .tuple(alias, fc.constantFrom(...texts), directives, set)
    .map((parts) => parts.join(' '));
}

const query = selections(
  'Query',
  fc.oneof(
    calls(
      [
        'pets',
        'pets(limit: 2)',
        'pets(limit: $limit)',
        'pets(limit: $few, status: $status)',
        'pets(status: sold, limit: 0)',
        'pet(id: 7)',
        'pet(id: $id)',
      ],
      pet,
    ),
    leaves('orders'),
  ),
  ['...Reads'],
);
const mutation = selections(
  'Mutation',
  fc.oneof(
    calls(
      [
        'addPet(input: $input)',
        'addPet(input: { name: "Rex", categoryId: $id, status: $status })',
        'addPet(input: { name: $text, categoryId: 1 })',
      ],
      pet,
    ),
    calls(['sendMessage(message: "hello")', 'sendMessage(message: $text)'], message),
  ),
  ['...Writes'],
);

const operation = fc
  .tuple(
    fc.oneof(
      query.map((set) => `query ${set}`),
      mutation.map((set) => `mutation ${set}`),
    ),
    // Whether the operation precedes its fragments, and the variable in one fragment's condition.
    fc.boolean(),
    maybe(fc.constant('$optional'), '$no'),
  )
  .map(([text, precedesFragments, skipCondition]) => {
    const [kind, ...set] = text.split(' ');
    const definition = `${kind} Generated(
      $limit: Int, $few: Int = 3, $status: PetStatus, $id: ID!, $text: String = "text",
      $input: AddPetInput!, $yes: Boolean!, $no: Boolean!, $optional: Boolean = true
    ) ${set.join(' ')}`;
    const fragments = `fragment Card on Pet { id name @skip(if: ${skipCondition}) }
    fragment Nested on Pet { ...Card status a: categoryId @include(if: $yes) }
    fragment Note on Message { id status }
    fragment Reads on Query { orders pets(limit: 1) { ...Nested } }
    fragment Writes on Mutation { sendMessage(message: "more") { ...Note } }`;
    return precedesFragments ? `${definition} ${fragments}` : `${fragments} ${definition}`;
  });

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const variables = fc.record(
  {
    limit: optional(fc.constantFrom<unknown>(1, 0, 'wrong')),
    few: optional(fc.constantFrom(1, 2)),
    status: optional(fc.constantFrom('sold', 'lost')),
    id: fc.constantFrom<unknown>('7', 8, 9_223_372_036_854_775_807n, true),
    text: optional(fc.constant('words')),
    input: fc.record(
      { name: fc.constant('Ada'), categoryId: fc.constant(5), status: fc.constant('pending') },
      { requiredKeys: ['name', 'categoryId'] },
    ),
    yes: fc.boolean(),
    no: fc.boolean(),
    optional: optional(fc.boolean()),
  },
  { requiredKeys: ['id', 'input', 'yes', 'no'] },
);

const ids = fc.constantFrom('1', '-9007199254740993', '0');
const words = fc.constantFrom('Rex', 'ö "\\\n\ud800', '', 'sold');
const values = {
  int64: ids,
  text: words,
  enumeration: fc.constantFrom('sold', 'available'),
  number: fc.constantFrom(0, 2.5),
};
const pets = fc.record(
  Object.fromEntries(
    Object.values(petFields).map(({ name, kind, isRequired }) => {
      const invalid = fc.constantFrom(undefined, new Error(`invalid ${name}`));
      return [
        name,
        isRequired
          ? values[kind.name]
          : fc.oneof<fc.Arbitrary<unknown>[]>(values[kind.name], invalid),
      ];
    }),
  ),
);
const messages = fc.record({
  id: words,
  message: words,
  status: words,
  createdAt: fc.constant('2026-11-21T00:00:00Z'),
});
const outcome = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 6, arbitrary: value },
    fc.constantFrom(new Error('no response'), new InvalidResponseError('body: not JSON')),
  );
const backend = fc.record({
  listPets: outcome(
    fc.oneof(
      fc.array(pets, { maxLength: 4 }),
      fc.constant(
        readPets(
          '[{"id":1,"name":"Rex","categoryId":-2,"status":"sold"},{"id":9007199254740993,"name":"ö`$","categoryId":0,"status":"pending"}]',
        ),
      ),
    ),
  ),
  getPet: outcome(pets),
  listOrders: outcome(
    fc.constantFrom('[{"id":9007199254740993}]', 'null', '1').map((text) => new JsonText(text)),
  ),
  createPet: outcome(pets),
  sendMessage: outcome(messages),
});

it(
  'executes generated operations like graphql-js',
  async () => {
    const counts = { compared: 0, withErrors: 0 };
    await fc.assert(
      fc.asyncProperty(operation, variables, backend, async (text, values, results) => {
        const document = parse(text);
        fc.pre(validate(schema, document, rules).length === 0);
        const fallback = storeOf(results);
        const contextValue = fallback.context;
        const args = { schema, document, contextValue, variableValues: values };
        const expected = await executeFallback(args);
        const own = storeOf(results);
        const result = await compileOperation(schema, document, undefined)?.(own.context, values);
        if (result === undefined) return;
        counts.compared++;
        if (expected.errors) counts.withErrors++;
        expect(comparable(result)).toEqual(comparable(expected));
        expect(own.calls).toEqual(fallback.calls);
      }),
      fuzzed(1000),
    );
    // Fails if most operations are invalid or not compiled.
    expect(counts.compared).toBeGreaterThan(200);
    expect(counts.withErrors).toBeGreaterThan(70);
  },
  fuzzTimeout,
);
