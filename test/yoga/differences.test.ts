import SchemaBuilder from '@pothos/core';
import { GraphQLError } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { expect, it } from 'vitest';
import { addPetStore, loadConfig, type PetStoreContext, usePetStore } from '../../src/schema.ts';
import { postTo, startMounted, startYoga } from '../support/yoga.ts';

const env = { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' };

it.each([
  ['an operation beyond a limit', `{"query":"{ ${'a: orders '.repeat(400)} }"}`, [400, 200]],
  ['a request without query', '{}', [400, 200]],
  ['an unknown operation name', '{"query":"query A { orders }","operationName":"B"}', [400, 400]],
])('a Yoga server responds to %s with the code of the gateway', async (_, body, statuses) => {
  await using gateway = await startMounted(env);
  await using yoga = await startYoga(env);
  const responses = await Promise.all([gateway, yoga].map((server) => postTo(server, body)));
  expect(responses.map(({ status }) => status)).toEqual(statuses);
  const results = await Promise.all(responses.map((response) => response.json()));
  const [code, own] = results.map(({ errors }) => errors[0].extensions.code);
  expect(own).toBe(code);
});

it('a Yoga server shows the errors that its resolvers throw with a code, and masks all others', async () => {
  const builder = new SchemaBuilder<{ Context: PetStoreContext & { readonly tenant: string } }>({});
  builder.queryType({});
  builder.mutationType({});
  addPetStore(builder);
  const extensions = { code: 'SOLD_OUT', left: 0 };
  builder.queryFields((t) => ({
    sold: t.string({
      nullable: true,
      resolve: () => Promise.reject(new GraphQLError('Sold out.', { extensions })),
    }),
    secret: t.string({
      nullable: true,
      resolve: () => Promise.reject(new Error('postgres://secret')),
    }),
  }));
  const yoga = createYoga({
    schema: builder.toSchema(),
    plugins: [await usePetStore(loadConfig(env))],
    logging: false,
    context: ({ request }) => {
      if (request.headers.has('x-broken')) throw new Error('postgres://secret');
      return { tenant: 'one' };
    },
  });
  const post = async (query: string, headers = {}) => {
    const response = await yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    return { status: response.status, ...((await response.json()) as object) };
  };
  const masked = { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) };
  expect(await post('{ sold secret }')).toMatchObject({
    status: 200,
    data: { sold: null, secret: null },
    errors: [
      { message: 'Sold out.', path: ['sold'], extensions },
      { message: expect.stringContaining('Internal error'), path: ['secret'], extensions: masked },
    ],
  });
  const broken = await post('{ sold }', { 'x-broken': '1' });
  expect(broken).toMatchObject({ status: 500, errors: [{ extensions: masked }] });
  expect(JSON.stringify(broken)).not.toContain('postgres');
  await yoga.dispose();
  await expect(post('{ sold }')).rejects.toThrow('disposed before this request');
});
