import fc from 'fast-check';
import { parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { InvalidResponseError } from '../../src/contract/error.ts';
import { JsonText } from '../../src/contract/json.ts';
import { readPets } from '../../src/contract/pets-text.ts';
import { petFields } from '../../src/contract/records.ts';
import { compileOperation } from '../../src/execution/compile.ts';
import { schema } from '../../src/graphql/schema.ts';
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { comparable, executeFallback } from './differential.ts';
import { operation, rules, variables } from './generate-operation.ts';
import { storeOf } from './recorded-store.ts';

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
