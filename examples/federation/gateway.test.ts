import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { createGateway, loadConfig } from 'petstore-gateway';
import { createCategories } from './categories.ts';
import { createFederation } from './gateway.ts';
import { listen } from './listen.ts';
import { createStitched } from './stitching.ts';

interface Options extends RequestInit {
  readonly variables?: string;
  readonly key?: string;
}

/** Starts a REST service that responds like this, both subgraphs, and the server in front of them. */
async function open(
  create: typeof createFederation | typeof createStitched,
  rest: RequestListener,
) {
  const servers = new AsyncDisposableStack();
  const calls: string[] = [];
  const keysOfCategories = new Set<string | undefined>();
  const service = servers.use(
    await listen((request, response) => {
      calls.push(`${request.headers.authorization} ${request.method} ${request.url}`);
      response.setHeader('content-type', 'application/json');
      rest(request, response);
    }),
  );
  const env = {
    PETSTORE_BASE_URL: new URL('/v1', service.url).href,
    // Equal reads are separate calls, so that one can be cancelled.
    COALESCE_READS: 'off',
    LOG_LEVEL: 'silent',
  };
  const gateway = servers.use(await createGateway(loadConfig(env)));
  const petStore = servers.use(await listen(gateway.nodeListener));
  const yoga = createCategories();
  const categories = servers.use(
    await listen((request, response) => {
      keysOfCategories.add(request.headers.authorization);
      yoga(request, response);
    }),
  );
  const urls = { petStore: petStore.url, categories: categories.url };
  const { url } = servers.use(await listen(servers.use(create(urls))));
  const send = (query: string, { variables = '{}', key = 'my-api-key', ...init }: Options = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
      ...init,
    });
  return {
    calls,
    keysOfCategories,
    petStore,
    categories,
    send,
    post: async (...request: Parameters<typeof send>) => (await send(...request)).json(),
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}

const pets = '[{"id":9007199254740993,"name":"Rex","categoryId":1}]';
const combined = '{ pets { id name categoryId } categories { id name } }';
const data = {
  pets: [{ id: '9007199254740993', name: 'Rex', categoryId: '1' }],
  categories: [
    { id: '1', name: 'dogs' },
    { id: '2', name: 'cats' },
  ],
};
for (const create of [createFederation, createStitched]) {
  describe(create.name, () => {
    test('combines the subgraphs, and forwards the key to the pet store only', async () => {
      await using server = await open(create, (_request, response) => response.end(pets));
      const keys = ['one', 'two', 'one'];
      const results = keys.map((key) => server.post(combined, { key }));
      for (const result of await Promise.all(results)) assert.deepEqual(result, { data });
      const called = new Set(server.calls);
      assert.deepEqual(called, new Set(['Bearer one GET /v1/pets', 'Bearer two GET /v1/pets']));
      assert.deepEqual(server.keysOfCategories, new Set([undefined]));
    });

    test('keeps all digits of ids', async () => {
      const bodies: string[] = [];
      await using server = await open(create, async (request, response) => {
        if (request.method === 'GET') return void response.end('{"total":9007199254740993}');
        const body = (await request.toArray()).join('');
        bodies.push(body);
        response.writeHead(201).end(body.replace('{', '{"id":9223372036854775807,'));
      });
      const add = (id: string) => `addPet(input: { name: "Rex", categoryId: ${id} }) { id }`;
      for (const [query, variables] of [
        [`mutation { ${add('9007199254740993')} }`],
        [`mutation ($id: ID!) { ${add('$id')} }`, '{"id":"9007199254740993"}'],
        [`mutation ($id: ID!) { ${add('$id')} }`, '{"id":9007199254740993}'],
      ] as const) {
        const result = await server.post(query, { variables });
        assert.deepEqual(result, { data: { addPet: { id: '9223372036854775807' } } });
      }
      assert.deepEqual(new Set(bodies), new Set(['{"name":"Rex","categoryId":9007199254740993}']));
      const { data } = await server.post('{ orders }');
      assert.deepEqual(data.orders, { total: '9007199254740993' });
    });

    test('keeps the errors of the pet store, and the data of the other subgraph', async () => {
      await using server = await open(create, (_request, response) =>
        response.writeHead(403).end('{"code":"refused","message":"Refused.","status":403}'),
      );
      const read = await server.post(combined);
      assert.deepEqual(read.data, { ...data, pets: null });
      assert.deepEqual(read.errors[0].path, ['pets']);
      const write = await server.post(
        'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }',
      );
      const { requestId, serviceName, ...extensions } = write.errors[0].extensions;
      assert.match(requestId, /^[\w-]{36}$/);
      assert.deepEqual(extensions, {
        code: 'FORBIDDEN',
        status: 403,
        error: { code: 'refused', message: 'Refused.', status: 403 },
        outcome: 'NOT_DONE',
      });
    });

    test('keeps the data of one subgraph if the other is down', async () => {
      await using server = await open(create, (_request, response) => response.end(pets));
      await server.categories[Symbol.asyncDispose]();
      assert.deepEqual((await server.post(combined)).data, { ...data, categories: null });
      await server.petStore[Symbol.asyncDispose]();
      const { errors } = await server.post('mutation { sendMessage(message: "Hi") { id } }');
      // Neither an address nor an outcome: the write may have been done.
      assert.equal(errors[0].message, 'Unexpected error.');
      assert.deepEqual(errors[0].extensions, { code: 'INTERNAL_SERVER_ERROR' });
    });

    test('cancels the call of a client that disconnects, and no equal one', async () => {
      const calls: ServerResponse[] = [];
      const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const cancelled = Promise.withResolvers<void>();
      await using server = await open(create, (_request, response) => {
        response.on('close', () => response.writableEnded || cancelled.resolve());
        started[calls.push(response) - 1]?.resolve();
      });
      const client = new AbortController();
      const leaving = server.post('{ orders }', { signal: client.signal });
      await started[0]?.promise;
      const staying = server.post('{ orders }');
      await started[1]?.promise;
      client.abort();
      await assert.rejects(leaving);
      await cancelled.promise;
      calls[1]?.end('[]');
      assert.deepEqual(await staying, { data: { orders: [] } });
    });

    test('sends the fields of one subgraph before deferred fields of the other', async () => {
      const received = Promise.withResolvers<void>();
      await using server = await open(create, async (_request, response) => {
        await received.promise;
        response.end('[]');
      });
      const { body } = await server.send('{ categories { id } ... @defer { orders } }');
      let text = '';
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        if (text.includes('{"data":{"categories":[{"id":"1"},{"id":"2"}]},"hasNext":true}')) {
          received.resolve();
        }
      }
      assert.ok(
        text.includes('{"incremental":[{"data":{"orders":[]},"path":[]}],"hasNext":false}'),
      );
    });

    test('has the limits that the README lists', async () => {
      await using server = await open(create, (_request, response) => response.end(pets));
      const nested = await (await server.send('{ pets { id ... @defer { name } } }')).text();
      assert.match(nested, /Cannot return null for non-nullable field Pet\.name/);
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      assert.equal((await server.send('{ ... @defer { orders } }', { headers })).status, 406);
      const query = 'query ($size: Int) { pets(limit: $size) { id } orders }';
      const { errors } = await server.post(query, { variables: '{"size":0}' });
      assert.deepEqual(errors[0].extensions.issues[0].path, ['_v0_size']);
    });
  });
}
