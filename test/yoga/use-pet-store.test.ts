import { type ExecutionArgs, type ExecutionResult, execute, GraphQLError } from 'graphql';
import { createYoga, useExtendContext } from 'graphql-yoga';
import { expect, it, vi } from 'vitest';
import { Scope } from '../../src/request/scope.ts';
import { ErrorResponse, loadConfig, type PetStoreContext, usePetStore } from '../../src/schema.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { buildSchema, openYoga } from '../support/yoga.ts';

const demo = { DATABASE_URL: ':memory:', DEMO: 'on' };
const withKey = { authorization: 'Bearer demo-key' };
const ok = { query: '{ who }' };

it('types the errors of the pet store, and leaves others to the server', async () => {
  const schema = buildSchema((builder) => {
    builder.queryFields((t) => ({
      secret: t.string({ nullable: true, resolve: () => Promise.reject(new Error('of the host')) }),
      sold: t.string({
        nullable: true,
        resolve: () => Promise.reject(new GraphQLError('Sold.', { extensions: { code: 'SOLD' } })),
      }),
    }));
  });
  await using yoga = await openYoga(schema, demo);
  const query = '{ pet(id: 0) { id } pets(limit: 0) { id } secret sold }';
  const { errors, text } = await yoga.post({ query }, withKey);
  const byField = Object.fromEntries(errors.map((error: GraphQLError) => [error.path?.[0], error]));
  expect(byField).toMatchObject({
    pet: { extensions: { code: 'NOT_FOUND', status: 404 } },
    pets: { extensions: { code: 'BAD_USER_INPUT', issues: [{ path: ['limit'] }] } },
    secret: { message: 'Unexpected error.' },
    sold: { extensions: { code: 'SOLD' } },
  });
  expect(text).not.toContain('of the host');
});

it('reports what became of a write', async () => {
  await using service = await startUpstream((_request, response) => response.destroy());
  const env = { PETSTORE_BASE_URL: `${service.url}/v1` };
  await using yoga = await openYoga(buildSchema(), env);
  const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
  const { errors } = await yoga.post({ query });
  expect(errors[0].extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' });
});

it('refuses an id that JavaScript has rounded, and keeps every digit of text', async () => {
  await using yoga = await openYoga(buildSchema(), demo);
  const query = 'query ($id: ID!) { pet(id: $id) { id } }';
  const rounded = await yoga.post({ query, variables: { id: 2 ** 53 + 2 } }, withKey);
  expect(rounded.errors[0].message).toContain('may be rounded');
  const exact = await yoga.post({ query, variables: { id: '9007199254740993' } }, withKey);
  expect(exact.errors[0].extensions.code).toBe('NOT_FOUND');
  const lists = buildSchema((builder) => {
    builder.queryField('echo', (t) =>
      t.string({
        args: { ids: t.arg.idList({ required: true }) },
        resolve: (_root, { ids }) => ids.join(),
      }),
    );
  });
  await using other = await openYoga(lists, demo);
  for (const [definition, variables] of [
    ['$ids: [ID!]!', { ids: ['1', 2 ** 53 + 2] }],
    ['$ids: [ID!]! = [9007199254740993]', {}],
  ] as const) {
    const listed = await other.post({
      query: `query (${definition}) { echo(ids: $ids) }`,
      variables,
    });
    expect(listed.errors[0].message).toContain('may be rounded');
  }
  const input = { name: 'Rex', categoryId: 2 ** 60 };
  const add = 'mutation ($input: AddPetInput!) { addPet(input: $input) { id } }';
  const written = await yoga.post({ query: add, variables: { input } }, withKey);
  expect(written.errors[0].message).toContain('may be rounded');
});

it('forwards the headers of the configuration, and names writes by their Idempotency-Key', async () => {
  await using service = await startUpstream(({ headers }, response) => {
    const name = String(headers['accept-language']);
    sendJson(response, 201, JSON.stringify({ id: 1, name, categoryId: 1 }));
  });
  const env = { PETSTORE_BASE_URL: `${service.url}/v1`, FORWARD_HEADERS: 'accept-language' };
  await using yoga = await openYoga(buildSchema(), env);
  const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { name } }';
  const { data } = await yoga.post({ query }, { 'accept-language': 'da' });
  expect(data).toEqual({ addPet: { name: 'da' } });
  const refused = await yoga.post({ query }, { 'idempotency-key': 'two words' });
  expect([refused.status, refused.errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
  expect(service.seen).toHaveLength(1);
});

it('sends writes to other paths once per Idempotency-Key', async () => {
  let count = 0;
  const faults = [500, 500];
  await using service = await startUpstream(({ method, body }, response) => {
    if (method === 'GET') return sendJson(response, 200, '[]');
    const status = body.includes('bad') ? (faults.shift() ?? 201) : 201;
    sendJson(response, status, `{"id":9007199254740993${++count}}`);
  });
  const schema = buildSchema((builder) => {
    builder.mutationFields((t) => ({
      add: t.string({
        nullable: true,
        args: { name: t.arg.string({ required: true }) },
        resolve: async (_, { name }, { petStore }) =>
          Object.values(Object(await petStore.rest.post('/categories', { name }))).join(),
      }),
    }));
  });
  const env = { PETSTORE_BASE_URL: `${service.url}/v1`, UPSTREAM_IDEMPOTENCY: 'on' };
  await using yoga = await openYoga(schema, env);
  const add = async (fields: string, key?: string) => {
    const headers = { ...withKey, ...(key && { 'idempotency-key': key }) };
    return (await yoga.post({ query: `mutation { ${fields} }` }, headers)).text;
  };
  const two = 'a: add(name: "x") b: add(name: "x") c: add(name: "y")';
  const first = await add(two, 'k');
  expect(first).toContain('90071992547409933');
  expect(await add(two, 'k')).toBe(first);
  expect(count).toBe(3);
  expect(await add(two, 'l')).not.toBe(first);
  await add('add(name: "x")');
  expect(count).toBe(7);
  // Nothing shows that the service honours the header on other paths.
  const failed = await add('add(name: "bad")', 'm');
  expect(failed).toContain('UNKNOWN');
  expect(await add('add(name: "bad")', 'm')).toContain('UNKNOWN');
  expect(count).toBe(8);
  expect(service.seen.some(({ headers }) => 'idempotency-key' in headers)).toBe(false);
});

it('counts the writes of a field, each of which is one of its own', async () => {
  const schema = buildSchema((builder, { Pet }) => {
    builder.mutationFields((t) => ({
      addLitter: t.field({
        type: [Pet],
        nullable: true,
        args: { names: t.arg.stringList({ required: true }) },
        resolve: (_, { names }, { petStore }, { path }) =>
          Promise.all(names.map((name) => petStore.createPet({ name, categoryId: '1' }, path.key))),
      }),
    }));
  });
  await using yoga = await openYoga(schema, demo);
  const add = async (names: string) => {
    const query = `mutation { addLitter(names: ${names}) { id name } }`;
    return (await yoga.post({ query }, { ...withKey, 'idempotency-key': 'k' })).text;
  };
  const first = await add('["Rex", "Rex", "Tom"]');
  expect(Object.keys(Object.groupBy(first.match(/"id":"\d+"/g) ?? [], String))).toHaveLength(3);
  expect(await add('["Rex", "Rex", "Tom"]')).toBe(first);
  expect(await add('["Rex", "Tom"]')).toContain('IDEMPOTENCY_KEY_REUSED');
});

it('serves subscriptions, and holds nothing of a request after its last event', async () => {
  await using service = await startUpstream(({ url }, response) => {
    if (url === '/v1/found') sendJson(response, 200, String(service.seen.length));
  });
  const schema = buildSchema((builder) => {
    builder.subscriptionType({});
    builder.subscriptionField('reads', (t) =>
      t.string({
        subscribe: async function* () {
          yield* [1, 2];
        },
        resolve: async (_event, _args, { petStore }) => String(await petStore.rest.get('/found')),
      }),
    );
  });
  await using yoga = await openYoga(schema, { PETSTORE_BASE_URL: `${service.url}/v1` });
  const end = vi.spyOn(Scope.prototype, 'end');
  const { text } = await yoga.post({ query: 'subscription { reads }' });
  expect(text.match(/"reads":"1"/g)).toHaveLength(2);
  // Once before it is executed.
  expect(end).toHaveBeenCalledTimes(2);
  end.mockRestore();
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

it('returns orders as the REST service does, with large integers as strings', async () => {
  await using service = await startUpstream((_request, response) =>
    sendJson(response, 200, '[{"id":9007199254740993,"petId":7,"note":null}]'),
  );
  await using yoga = await openYoga(buildSchema(), { PETSTORE_BASE_URL: `${service.url}/v1` });
  for (let times = 1; times <= 2; times++) {
    const { data } = await yoga.post({ query: '{ orders }' });
    expect(data).toEqual({ orders: [{ id: '9007199254740993', petId: 7, note: null }] });
  }
});

it.each([undefined, 1])('returns pets as an array, whatever their spaces: %s', async (space) => {
  const pets = [{ id: '1', name: 'Rex', categoryId: '1', status: 'sold' }];
  await using service = await startUpstream((_request, response) =>
    sendJson(response, 200, JSON.stringify(pets, null, space).replace(/"1"/g, '1')),
  );
  const schema = buildSchema((builder) => {
    builder.queryField('count', (t) =>
      t.int({
        resolve: async (_root, _args, { petStore }, { path }) =>
          (await petStore.listPets({ limit: 20 }, path.key)).length,
      }),
    );
  });
  await using yoga = await openYoga(schema, { PETSTORE_BASE_URL: `${service.url}/v1` });
  expect((await yoga.post({ query: '{ count }' })).data).toEqual({ count: 1 });
});

const refuse = () => {
  throw new GraphQLError('No.');
};

it.each<[name: string, body: object, headers: object, later?: object]>([
  ['the document', { query: '{ nope }' }, {}],
  ['a header', { query: '{ orders }' }, { 'idempotency-key': 'two words' }],
  ['the context', { query: '{ orders }' }, {}, { onContextBuilding: refuse }],
  ['a plugin that executes', { query: '{ orders }' }, {}, { onExecute: refuse }],
  [
    'a plugin that stops',
    { query: '{ orders }' },
    {},
    {
      onExecute: ({
        setResultAndStopExecution: stop,
      }: {
        setResultAndStopExecution(one: object): void;
      }) => stop({ data: {} }),
    },
  ],
  ['nobody', { query: '{ orders }' }, {}],
  ['the media type', { query: 'subscription { ticks }' }, { accept: 'application/json' }],
])('holds nothing of a request that is refused by %s', async (_, body, headers, later) => {
  const begun = vi.spyOn(Scope.prototype, 'begin');
  const ended = vi.spyOn(Scope.prototype, 'end');
  const schema = buildSchema((builder) => {
    builder.subscriptionType({});
    builder.subscriptionField('ticks', (t) =>
      t.int({
        subscribe: async function* () {
          yield 1;
        },
        resolve: Number,
      }),
    );
  });
  await using yoga = await openYoga(schema, demo, {}, later ? [later] : []);
  await yoga.post(body, { ...withKey, ...headers });
  const endings = ended.mock.results.filter(({ value }) => value === true);
  expect(endings).toHaveLength(begun.mock.calls.length);
  begun.mockRestore();
  ended.mockRestore();
});

it('types errors of deferred fragments', async () => {
  // Of the host: an executor for the plugins after it to wrap.
  const incremental = {
    onExecute({ setExecuteFn }: { setExecuteFn(execute: unknown): void }) {
      setExecuteFn(async function* (args: ExecutionArgs) {
        const { errors } = (await execute(args)) as ExecutionResult;
        yield { data: {}, hasNext: true };
        yield { incremental: [{ path: [], data: null, errors }], hasNext: false };
      });
    },
  };
  await using yoga = await openYoga(buildSchema(), demo, { plugins: [incremental] });
  const { text } = await yoga.post(
    { query: '{ pet(id: 0) { id } }' },
    { ...withKey, accept: 'text/event-stream' },
  );
  expect(text).toContain('"code":"NOT_FOUND"');
});

it('honours the timeout of a request', async () => {
  await using service = await startUpstream(() => {});
  await using yoga = await openYoga(buildSchema(), { PETSTORE_BASE_URL: `${service.url}/v1` });
  const { errors } = await yoga.post({ query: '{ orders }' }, { 'x-petstore-timeout-ms': '50' });
  expect(errors[0].extensions.code).toBe('UPSTREAM_TIMEOUT');
});

it.each([
  ['query ($id: ID! = 9007199254740993) { pet(id: $id) { id } }', {}],
  ['query ($id: ID! = 9007199254740993) { pet(id: $id) { id } }', undefined],
  [
    'mutation ($input: AddPetInput! = { name: "Rex", categoryId: 9007199254740993 }) { addPet(input: $input) { id } }',
    {},
  ],
])('refuses a large id in the default of a variable by name: %s', async (query, variables) => {
  await using yoga = await openYoga(buildSchema(), demo);
  const { errors } = await yoga.post({ query, variables }, withKey);
  expect(errors[0].message).toMatch(
    /^Variable "\$(?:id|input)".*9007199254740992, which may be rounded/,
  );
});

it('refuses a batch with an Idempotency-Key, whose writes it could not distinguish', async () => {
  await using yoga = await openYoga(buildSchema(), demo, { batching: true });
  const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
  const refused = await yoga.post([{ query }, { query }], { ...withKey, 'idempotency-key': 'k' });
  expect([refused.status, refused.errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
  const { text } = await yoga.post([{ query }, { query }], withKey);
  expect(text.match(/"id":"\d+"/g)).toEqual(['"id":"13"', '"id":"14"']);
});

it.each(['on', 'off'])('shares equal reads of another path, COALESCE_READS=%s', async (shared) => {
  await using service = await startUpstream(({ url }, response) => {
    const pets = [1, 2, 3].map((id) => ({ id, name: 'Rex', categoryId: 1 + (id % 2) }));
    sendJson(response, 200, url.startsWith('/v1/pets') ? JSON.stringify(pets) : '{"name":"Dogs"}');
  });
  const schema = buildSchema((builder, { Pet }) => {
    builder.objectField(Pet, 'category', (t) =>
      t.string({
        resolve: async ({ categoryId }, _args, { petStore }) =>
          Object(await petStore.rest.get('/categories/{id}', { id: categoryId })).name,
      }),
    );
  });
  await using yoga = await openYoga(schema, {
    PETSTORE_BASE_URL: `${service.url}/v1`,
    COALESCE_READS: shared,
  });
  const { data } = await yoga.post({ query: '{ pets { category } }' });
  expect(data.pets).toHaveLength(3);
  expect(service.seen.map(({ url }) => url).sort()).toEqual([
    '/v1/categories/1',
    '/v1/categories/2',
    '/v1/pets',
  ]);
});

it('executes for a context whose request has no signal, as of a WebSocket', async () => {
  const end = vi.spyOn(Scope.prototype, 'end');
  const plugin = await usePetStore(loadConfig({ LOG_LEVEL: 'silent', ...demo }));
  const yoga = createYoga({ schema: buildSchema(), plugins: [plugin] });
  const request = { method: 'GET', url: 'http://host/', headers: new Headers(withKey) };
  const { execute: run, contextFactory, parse, schema } = yoga.getEnveloped({ request });
  const document = parse('{ pets(limit: 1) { id } }');
  const result = await run({ schema, document, contextValue: await contextFactory() });
  expect(result).toEqual({ data: { pets: [{ id: '1' }] } });
  expect(end.mock.results.at(-1)?.value).toBe(true);
  end.mockRestore();
  await yoga.dispose();
});
