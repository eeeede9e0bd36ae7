import SchemaBuilder from '@pothos/core';
import {
  GraphQLDeferDirective,
  GraphQLError,
  GraphQLSchema,
  GraphQLStreamDirective,
  specifiedDirectives,
} from 'graphql';
import { createYoga } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';
import { addPetStore, loadConfig, type PetStoreContext, usePetStore } from '../../src/schema.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { buildSchema, openYoga, postTo, startMounted, startYoga } from '../support/yoga.ts';

const env = { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent', EXPLAIN: 'on' };

const gateway = disposeAfterAll(await startMounted(env));
const yoga = disposeAfterAll(await startYoga(env));

it.each([
  ['an operation beyond a limit', `{"query":"{ ${'a: orders '.repeat(400)} }"}`, [400, 200]],
  ['a request without query', '{}', [400, 200]],
  ['an unknown operation name', '{"query":"query A { orders }","operationName":"B"}', [400, 400]],
])('a Yoga server responds to %s with the code of the gateway', async (_, body, statuses) => {
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
    const response = await yoga.fetch(graphqlRequest('http://localhost', { query }, headers));
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

describe('a Yoga server differs from the gateway:', () => {
  const plain = buildSchema(() => {});

  it('no @defer, no EXPLAIN, no Cache-Control', async () => {
    const deferred = '{"query":"{ ... @defer { __typename } }"}';
    expect((await postTo(gateway, deferred)).status).toBe(200);
    const result = await (await postTo(yoga, deferred)).json();
    expect(result.errors[0].message).toBe('Unknown directive "@defer".');
    const explained = await Promise.all(
      [gateway, yoga].map(async (server) => {
        const headers = { 'x-petstore-explain': '1' };
        return (await postTo(server, '{"query":"{ orders }"}', { headers })).json();
      }),
    );
    expect(explained.map(({ extensions }) => extensions?.calls !== undefined)).toEqual([
      true,
      false,
    ]);
    const got = await Promise.all(
      [gateway, yoga].map(({ url }) => fetch(`${url}/graphql?query={__typename}`)),
    );
    expect(got.map(({ headers }) => headers.get('cache-control'))).toEqual(['private', null]);
  });

  it('@defer and @stream have no effect, even if its schema has them', async () => {
    const directives = [...specifiedDirectives, GraphQLDeferDirective, GraphQLStreamDirective];
    const schema = new GraphQLSchema({ ...plain.toConfig(), directives });
    await using yoga = await openYoga(schema, { ...env, DEMO: 'on' });
    const query = '{ pets(limit: 1) @stream { id ... @defer { name } } }';
    const headers = { authorization: 'Bearer demo-key' };
    expect(await yoga.post({ query }, headers)).toMatchObject({
      data: { pets: [{ id: '1', name: 'Biscuit' }] },
    });
  });

  it('batches are refused, even if the server turns them on', async () => {
    await using yoga = await openYoga(plain, env, { batching: true });
    const { status, errors } = await yoga.post([{ query: '{ __typename }' }]);
    expect([status, errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('errors of a subscription are masked and not typed, and its events share reads', async () => {
    await using service = await startUpstream(({ url }, response) =>
      url === '/v1/missing'
        ? sendJson(response, 404, '{"code":"a","message":"Secret.","status":404}')
        : sendJson(response, 200, String(service.seen.length)),
    );
    const schema = buildSchema((builder) => {
      builder.subscriptionType({});
      builder.subscriptionField('reads', (t) =>
        t.string({
          nullable: true,
          args: { path: t.arg.string({ required: true }) },
          subscribe: async function* () {
            yield* [1, 2];
          },
          resolve: async (_event, { path }, { petStore }) => String(await petStore.rest.get(path)),
        }),
      );
    });
    await using yoga = await openYoga(schema, { PETSTORE_BASE_URL: `${service.url}/v1` });
    const subscribe = async (path: string) => {
      const { text } = await yoga.post({ query: `subscription { reads(path: "${path}") }` });
      return text
        .matchAll(/^data: (\{.+)$/gm)
        .map(([, event = '']) => JSON.parse(event))
        .toArray();
    };
    const event = { data: { reads: '1' } };
    expect(await subscribe('/found')).toEqual([event, event]);
    expect(service.seen).toHaveLength(1);
    const errors = [
      { message: 'Unexpected error.', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
    ];
    expect(await subscribe('/missing')).toMatchObject([{ errors }, { errors }]);
  });
});
