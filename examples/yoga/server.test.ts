import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listen, startService } from './categories-service.ts';
import { openServer } from './server.ts';

async function open(respond: Parameters<typeof startService>[0]) {
  const service = await startService(respond);
  const server = await openServer({ PETSTORE_BASE_URL: `${service.url}/v1`, LOG_LEVEL: 'error' });
  const { url, ...started } = await listen(server);
  return {
    seen: service.seen,
    async post(query: string) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { authorization: 'Bearer my-api-key', 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      return response.json();
    },
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

test('loads the categories of all pets with one call', async () => {
  await using server = await open((_request, response) => {
    response.end('[{"id":9007199254740993,"name":"dogs"},{"id":2,"name":"cats"}]');
  });
  assert.deepEqual(await server.post('{ pets { name category { id name } } }'), {
    data: {
      pets: [
        { name: 'Rex', category: { id: '9007199254740993', name: 'dogs' } },
        { name: 'Tom', category: { id: '2', name: 'cats' } },
      ],
    },
  });
  assert.deepEqual(server.seen, ['GET /v1/pets', 'GET /v1/categories?ids=9007199254740993%2C2']);
});

test('adds a category', async () => {
  await using server = await open(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.writeHead(201).end(JSON.stringify({ id: 3, ...JSON.parse(body) }));
  });
  assert.deepEqual(await server.post('mutation { addCategory(name: "birds") { id name } }'), {
    data: { addCategory: { id: '3', name: 'birds' } },
  });
  assert.deepEqual(server.seen, ['POST /v1/categories']);
});

test('has typed errors', async () => {
  await using server = await open((_request, response) => {
    response.writeHead(403).end('{"code":"read_only","message":"Read only.","status":403}');
  });
  const { data, errors } = await server.post('mutation { addCategory(name: "birds") { id } }');
  assert.equal(data.addCategory, null);
  const { requestId, ...extensions } = errors[0].extensions;
  assert.match(requestId, /^[\w-]{36}$/);
  assert.deepEqual(extensions, {
    code: 'FORBIDDEN',
    status: 403,
    error: { code: 'read_only', message: 'Read only.', status: 403 },
    outcome: 'NOT_DONE',
  });
});
