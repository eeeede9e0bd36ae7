import { GraphQLError } from 'graphql';
import { useExtendContext } from 'graphql-yoga';
import { expect, it, vi } from 'vitest';
import { Scope } from '../../src/request/scope.ts';
import { ErrorResponse, type PetStoreContext } from '../../src/schema.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { buildSchema, openYoga } from '../support/yoga.ts';

const demo = { DATABASE_URL: ':memory:', DEMO: 'on' };
const withKey = { authorization: 'Bearer demo-key' };
const ok = { query: '{ who }' };

it('serves the fields of the pet store in the server of a host', async () => {
  await using yoga = await openYoga(
    buildSchema(() => {}),
    demo,
  );
  const { data } = await yoga.post({ query: '{ pets(limit: 1) { id name } }' }, withKey);
  expect(data).toEqual({ pets: [{ id: '1', name: 'Biscuit' }] });
});

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
  await using yoga = await openYoga(
    buildSchema(() => {}),
    env,
  );
  const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
  const { errors } = await yoga.post({ query });
  expect(errors[0].extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' });
});

it('refuses an id that JavaScript has rounded, and keeps every digit of text', async () => {
  await using yoga = await openYoga(
    buildSchema(() => {}),
    demo,
  );
  const query = 'query ($id: ID!) { pet(id: $id) { id } }';
  const rounded = await yoga.post({ query, variables: { id: 2 ** 53 + 2 } }, withKey);
  expect(rounded.errors[0].message).toContain('may be rounded');
  const exact = await yoga.post({ query, variables: { id: '9007199254740993' } }, withKey);
  expect(exact.errors[0].extensions.code).toBe('NOT_FOUND');
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
  await using yoga = await openYoga(
    buildSchema(() => {}),
    env,
  );
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

it('limits operations if it is asked to', async () => {
  const query = `{ ${'a: orders '.repeat(31)} }`;
  await using limited = await openYoga(
    buildSchema(() => {}),
    demo,
    {},
    [],
    { limits: true },
  );
  const { status, errors } = await limited.post({ query });
  expect([status, errors[0].extensions.code]).toEqual([200, 'OPERATION_TOO_LARGE']);
  await using free = await openYoga(
    buildSchema(() => {}),
    demo,
  );
  expect((await free.post({ query })).data).toBeDefined();
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
  expect(end).toHaveBeenCalledOnce();
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
