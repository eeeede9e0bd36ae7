import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { openServer } from '../../examples/yoga/server.ts';
import { owning } from '../support/dispose.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { startServer } from '../support/server.ts';
import { type SeenRequest, sendJson, startUpstream } from '../support/upstream.ts';

const pets = '[{"id":1,"name":"Rex","categoryId":9007199254740993}]';

/** Starts examples/yoga in front of a service whose categories `respond` handles. */
async function open(
  respond: (request: SeenRequest, response: ServerResponse) => void,
  env: Readonly<Record<string, string>> = {},
) {
  const upstream = await startUpstream((request, response) =>
    request.url === '/v1/pets' ? sendJson(response, 200, pets) : respond(request, response),
  );
  const PETSTORE_BASE_URL = `${upstream.url}/v1`;
  const yoga = await startServer(
    await openServer({ LOG_LEVEL: 'silent', PETSTORE_BASE_URL, ...env }),
  );
  return {
    calls: () => upstream.seen.filter(({ url }) => url.startsWith('/v1/categories')),
    async post(query: string, headers = {}, signal?: AbortSignal) {
      const authorization = 'Bearer a-key-of-a-test';
      const sent = { authorization, ...headers };
      return (await fetch(graphqlRequest(yoga.url, { query }, sent, signal))).json();
    },
    ...owning(yoga, upstream),
  };
}

const read = '{ pets { name category { id name } } }';

it('sends the key, the request id and the trace with the call of an added field', async () => {
  await using server = await open((_request, response) =>
    sendJson(response, 200, '[{"id":9007199254740993,"name":"dogs"}]'),
  );
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { 'x-request-id': 'my-request', traceparent };
  expect(await server.post(read, headers)).toEqual({
    data: { pets: [{ name: 'Rex', category: { id: '9007199254740993', name: 'dogs' } }] },
  });
  expect(server.calls()).toMatchObject([
    {
      url: '/v1/categories?ids=9007199254740993',
      headers: { authorization: 'Bearer a-key-of-a-test', ...headers },
    },
  ]);
});

it('cancels the call of an added field when the client disconnects', async () => {
  const called = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  // No timeout closes the connection during the test.
  await using server = await open(
    (_request, response) => {
      once(response, 'close').then(() => cancelled.resolve());
      called.resolve();
    },
    { UPSTREAM_TIMEOUT_MS: '100000' },
  );
  const client = new AbortController();
  const response = server.post(read, {}, client.signal);
  await called.promise;
  client.abort();
  await expect(response).rejects.toThrow('abort');
  await cancelled.promise;
});
