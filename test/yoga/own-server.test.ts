import { GraphQLError } from 'graphql';
import { useExtendContext } from 'graphql-yoga';
import { expect, it } from 'vitest';
import { ErrorResponse, type PetStoreContext } from '../../src/schema.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { buildSchema, openYoga } from '../support/yoga.ts';

const ok = { query: '{ who }' };

it('a server with several schemas executes each request with its own', async () => {
  const [open, internal] = ['open', 'internal'].map((who) =>
    buildSchema((builder) => {
      builder.queryField('who', (t) => t.string({ resolve: () => who }));
    }),
  );
  await using yoga = await openYoga(({ request }: { readonly request: Request }) =>
    request.headers.has('x-internal') ? (internal as never) : (open as never),
  );
  const asked = [
    await yoga.post(ok),
    await yoga.post(ok, { 'x-internal': '1' }),
    await yoga.post(ok),
  ];
  expect(asked.map(({ data }) => data.who)).toEqual(['open', 'internal', 'open']);
});

it.each([
  ['an error', new Error('secret')],
  ['an error with an id', Object.assign(new Error('secret'), { extensions: { requestId: 'a' } })],
  ['an error with a code', Object.assign(new Error('secret'), { extensions: { code: 'A' } })],
  ['a GraphQLError without a code', new GraphQLError('secret')],
  [
    'a GraphQLError with a cause',
    new GraphQLError('secret', { originalError: new Error(), extensions: { code: 'A' } }),
  ],
  ['a text', 'secret'],
])('masks %s, even if Yoga does not', async (_, thrown) => {
  const schema = buildSchema((builder) => {
    builder.queryField('who', (t) =>
      t.string({ nullable: true, resolve: () => Promise.reject(thrown) }),
    );
  });
  await using yoga = await openYoga(schema, undefined, { maskedErrors: false });
  const { text, errors } = await yoga.post(ok);
  expect(errors).toMatchObject([
    { extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) } },
  ]);
  expect(text).not.toContain('secret');
});

it('keeps the outcome that a mutation of your own reports', async () => {
  const fail = (extensions: Record<string, string>) =>
    Promise.reject(new GraphQLError('Sold.', { extensions }));
  const schema = buildSchema((builder) => {
    builder.mutationFields((t) => ({
      buy: t.string({ nullable: true, resolve: () => fail({ code: 'SOLD', outcome: 'NOT_DONE' }) }),
      rent: t.string({ nullable: true, resolve: () => fail({ code: 'SOLD' }) }),
    }));
  });
  await using yoga = await openYoga(schema);
  const { errors } = await yoga.post({ query: 'mutation { buy rent }' });
  expect(errors).toMatchObject([
    { path: ['buy'], extensions: { code: 'SOLD', outcome: 'NOT_DONE' } },
    { path: ['rent'], extensions: { code: 'SOLD', outcome: 'UNKNOWN' } },
  ]);
});

it('waits for the requests in flight when it is disposed, and refuses later ones', async () => {
  const [called, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using upstream = await startUpstream(async (_request, response) => {
    called.resolve();
    await held.promise;
    sendJson(response, 200, '"later"');
  });
  const schema = buildSchema((builder) => {
    builder.queryField('who', (t) =>
      t.string({
        resolve: async (_root, _args, { petStore }) => String(await petStore.rest.get('/who')),
      }),
    );
  });
  const yoga = await openYoga(schema, { PETSTORE_BASE_URL: `${upstream.url}/v1` });
  const response = yoga.post(ok);
  await called.promise;
  const disposed = yoga.dispose();
  await expect(yoga.post(ok)).rejects.toThrow('disposed before this request');
  held.resolve();
  expect((await response).data).toEqual({ who: 'later' });
  await disposed;
  await yoga.dispose();
});

it('ends the calls of a request at the deadline that its client asks for', async () => {
  await using upstream = await startUpstream(({ url }, response) => {
    if (url.startsWith('/v1/pets')) sendJson(response, 200, '[]');
  });
  const schema = buildSchema((builder) => {
    builder.queryField('who', (t) =>
      t.string({
        nullable: true,
        resolve: async (_root, _args, { petStore }) => String(await petStore.rest.get('/who')),
      }),
    );
  });
  await using yoga = await openYoga(schema, { PETSTORE_BASE_URL: `${upstream.url}/v1` });
  const query = { query: '{ pets { id } who orders }' };
  const { data, errors } = await yoga.post(query, { 'x-petstore-timeout-ms': '2000' });
  expect(data).toEqual({ pets: [], who: null, orders: null });
  const message = "The pet store did not respond before the request's deadline.";
  const late = { message, extensions: { code: 'UPSTREAM_TIMEOUT' } };
  expect(errors).toMatchObject([late, late]);
});

it('checks no argument of your own that has the name of one of the pet store', async () => {
  const schema = buildSchema((builder) => {
    const Page = builder.inputType('Page', {
      fields: (t) => ({ limit: t.int(), name: t.string(), id: t.id() }),
    });
    builder.queryField('who', (t) =>
      t.string({
        args: {
          limit: t.arg.int(),
          id: t.arg.id(),
          page: t.arg({ type: Page }),
          size: t.arg.int(),
        },
        resolve: () => 'me',
      }),
    );
  });
  await using yoga = await openYoga(schema);
  const query = `query ($limit: Int, $id: ID, $page: Page, $size: Int, $own: Int) {
    who(limit: $limit, id: $id, page: $page, size: $size)
    pets(limit: $own) { id }
  }`;
  const page = { limit: 500, name: '', id: 'a-uuid' };
  const variables = { limit: 500, id: 'a-uuid', page, size: 'ten', own: 500 };
  const { errors } = await yoga.post({ query, variables });
  expect(errors[0].extensions.issues.map(({ path }: { path: string[] }) => path)).toEqual([
    ['size'],
    ['own'],
  ]);
});

it('keeps little memory for invalid documents', async () => {
  const schema = buildSchema(() => {});
  await using yoga = await openYoga(schema);
  const send = async (from: number) => {
    for (let n = from; n < from + 500; n++) await yoga.post({ query: `{ a${n} }` });
    for (let n = 0; n < 3; n++) globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const before = await send(0);
  expect((await send(500)) - before).toBeLessThan(500 * 30_000);
});

it('lets a resolver recognise an error status', async () => {
  await using service = await startUpstream((_request, response) =>
    sendJson(response, 404, '{"code":"none","message":"None.","status":404}'),
  );
  const schema = buildSchema((builder) => {
    builder.queryField('who', (t) =>
      t.string({
        nullable: true,
        async resolve(_root, _args, { petStore }) {
          try {
            return String(await petStore.rest.get('/who'));
          } catch (error) {
            if (error instanceof ErrorResponse && error.status === 404) return null;
            throw error;
          }
        },
      }),
    );
  });
  await using yoga = await openYoga(schema, { PETSTORE_BASE_URL: `${service.url}/v1` });
  const { data, errors } = await yoga.post(ok);
  expect([data, errors]).toEqual([{ who: null }, undefined]);
});

it('has the calls in the context of plugins after it', async () => {
  const schema = buildSchema((builder) => {
    builder.queryField('who', (t) =>
      t.string({
        resolve: (_root, _args, context) => String((context as unknown as { who: unknown }).who),
      }),
    );
  });
  const extend = useExtendContext(({ petStore }: Partial<PetStoreContext>) => ({
    who: typeof petStore?.rest.get,
  }));
  await using yoga = await openYoga(schema, undefined, {}, [extend]);
  expect((await yoga.post(ok)).data).toEqual({ who: 'function' });
});
