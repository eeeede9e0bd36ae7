import { createClient, type ExecutionResult, type RequestParams } from 'graphql-sse';
import { expect, it } from 'vitest';
import { disposeAfterAll } from '../support/dispose.ts';
import { apiKey, startGateway } from '../support/gateway.ts';

const service = disposeAfterAll(await startGateway());

/** Executes an operation with the client of the protocol, which sends it again if a connection breaks. */
async function execute(request: RequestParams) {
  const client = createClient({
    url: `${service.url}/graphql`,
    headers: { authorization: `Bearer ${apiKey}` },
    retryAttempts: 5,
    // At once.
    retry: async () => {},
  });
  const results: ExecutionResult[] = [];
  for await (const result of client.iterate(request)) results.push(result as ExecutionResult);
  return results;
}

const countPets = async () => (await execute({ query: '{ pets(limit: 100) { id } }' }))[0]?.data;

it('adds one pet for one mutation', async () => {
  const before = ((await countPets()) as { pets: unknown[] }).pets.length;
  const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { name } }';
  expect(await execute({ query })).toEqual([{ data: { addPet: { name: 'Rex' } } }]);
  expect(await countPets()).toMatchObject({ pets: { length: before + 1 } });
});

it.each([
  ['a query', '{ __typename }', { data: { __typename: 'Query' } }],
  [
    'a deferred fragment that is off',
    '{ __typename ... @defer(if: false) { orders } }',
    { data: { __typename: 'Query' } },
  ],
  ['a syntax error', '{', { errors: [{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }] }],
  [
    'an invalid document',
    '{ a }',
    { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] },
  ],
  [
    'an invalid variable',
    'query ($limit: Int!) { pets(limit: $limit) { id } }',
    { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
  ],
])('delivers the result of %s as an event', async (_, query, expected) => {
  expect(await execute({ query })).toMatchObject([expected]);
});

it('delivers deferred parts', async () => {
  const results = await execute({ query: '{ __typename ... @defer { orders } }' });
  expect(results).toHaveLength(2);
});
