import fc from 'fast-check';
import { parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { InvalidResponseError } from '../../src/contract/error.ts';
import { JsonText } from '../../src/contract/json.ts';
import { createListReader } from '../../src/contract/list-text.ts';
import { schema } from '../../src/petstore/graphql/schema.ts';
import { operations } from '../../src/petstore/operations.ts';
import { pet as petRecord } from '../../src/petstore/records.ts';
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { compareExecutors } from './differential.ts';
import { operation, rules, variables } from './generate-operation.ts';

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
    Object.values(petRecord.fields).map(({ name, kind, isRequired }) => {
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
        createListReader(operations.listPets.response)(
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
    const compared: boolean[] = [];
    await fc.assert(
      fc.asyncProperty(operation, variables, backend, async (text, values, results) => {
        const document = parse(text);
        fc.pre(validate(schema, document, rules).length === 0);
        const hasErrors = await compareExecutors(document, values, results);
        if (hasErrors !== undefined) compared.push(hasErrors);
      }),
      fuzzed(1000),
    );
    // Fails if most operations are invalid or not compiled.
    expect(compared.length).toBeGreaterThan(200);
    expect(compared.filter(Boolean).length).toBeGreaterThan(70);
  },
  fuzzTimeout,
);
