import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { packGateway } from '../../support/consumer.ts';
import { createFolder } from '../../support/folder.ts';
import { graphqlRequest, withKey } from '../../support/graphql.ts';
import { readParts, sendForParts } from '../../support/parts.ts';
import { pastePage } from '../../support/pasted-page.ts';
import { rawGet, sendRaw } from '../../support/raw-http.ts';
import { hasRegistry, registryTest } from '../../support/registry.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 1_200_000 });

const pets = '[{"id":9007199254740993,"name":"Biscuit","categoryId":1,"status":"available"}]';

/** A REST service that hands the response to orders over to the test. */
async function startService() {
  const orders: ServerResponse[] = [];
  let notify = () => {};
  const service = await startUpstream(({ url }, response) => {
    if (!url.endsWith('/orders')) return sendJson(response, 200, pets);
    orders.push(response);
    notify();
  });
  return {
    ...service,
    env: { PETSTORE_BASE_URL: `${service.url}/v1`, CORS_ORIGINS: 'https://shop.example' },
    /** The next response to orders, once the service has received the call. */
    async nextOrders(): Promise<ServerResponse> {
      const { promise, resolve } = Promise.withResolvers<void>();
      notify = resolve;
      if (orders.length === 0) await promise;
      return orders.shift() as ServerResponse;
    },
  };
}

describe.each([
  'node:http',
  'Express',
  'Fastify',
  'Hono',
  'Nest',
  'Bun',
  'Deno',
])('docs/hosts/node.md as pasted: %s', (section) => {
  const folder = createFolder();
  let host: Awaited<ReturnType<typeof pastePage>>;
  let service: Awaited<ReturnType<typeof startService>>;
  let server: Awaited<ReturnType<typeof host.start>>;
  beforeAll(async () => {
    if (!hasRegistry) return;
    await packGateway(folder);
    host = await pastePage('docs/hosts/node.md', folder, { section });
    service = await startService();
    server = await host.start(service.env);
    expect(server.url, server.output.stderr).not.toBe('');
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });
  const post = (query: string, signal?: AbortSignal) =>
    fetch(graphqlRequest(server.url, { query }, withKey, signal));

  registryTest('serves GraphQL to clients and GraphiQL to browsers', async () => {
    const response = await post('{ pets { id } pet(id: "x") { id } }');
    expect(await response.json()).toMatchObject({
      data: { pets: [{ id: '9007199254740993' }], pet: null },
      errors: [{ path: ['pet'], extensions: { code: 'BAD_USER_INPUT' } }],
    });
    const get = await fetch(`${server.url}/graphql?query={__typename}`);
    expect(await get.json()).toEqual({ data: { __typename: 'Query' } });
    const page = await fetch(`${server.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('query Storefront');
  });

  registryTest('serves the demo data of the built-in backend without any variables', async () => {
    await using demo = await host.start({});
    expect(demo.url, demo.output.stderr).not.toBe('');
    const response = await fetch(
      graphqlRequest(demo.url, { query: '{ pets(limit: 1) { name } }' }),
    );
    expect(await response.json()).toEqual({ data: { pets: [{ name: 'Biscuit' }] } });
    demo.kill('SIGTERM');
    await demo.exited;
  });

  registryTest('responds to preflight requests from the configured origins', async () => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization');
  });

  registryTest('combines calls in a route of its own, with the API key of the caller', async () => {
    const response = fetch(`${server.url}/storefront`, { headers: withKey });
    sendJson(await service.nextOrders(), 200, '[1]');
    expect(await (await response).json()).toMatchObject({
      data: { available: [{ name: 'Biscuit' }], pending: [{ name: 'Biscuit' }], orders: [1] },
    });
    expect(service.seen.at(-1)?.headers.authorization).toBe(withKey.authorization);
    const refused = await fetch(`${server.url}/storefront`);
    expect(refused.status).toBe(401);
    expect((await refused.json()).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  registryTest('rejects a body larger than 256 KiB', async () => {
    const response = await post(`{ pets { id } } # ${'x'.repeat(262_144)}`);
    expect(response.status).toBe(413);
    expect((await response.json()).errors[0].extensions.code).toBe('BODY_TOO_LARGE');
  });

  registryTest('shows no path or stack to a malformed request', async () => {
    const request = rawGet('/graphql?query={__typename}', 'Connection: close\r\n');
    const response = await sendRaw(server.url, request.replace('localhost', '[bad'));
    expect(response).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(response).not.toMatch(/node_modules|server\.[jt]s|file:/);
  });

  registryTest('rejects a second Authorization header', async () => {
    const keys = 'Authorization: Bearer demo-key\r\nAuthorization: Bearer another\r\n';
    const request = rawGet('/graphql?query={pets{id}}', `${keys}Connection: close\r\n`);
    const response = await sendRaw(server.url, request);
    expect(response).toContain('"code":"UNAUTHENTICATED"');
  });

  registryTest('sends the fields of a deferred fragment when they have arrived', async () => {
    const parts = readParts(await sendForParts(fetch, server.url));
    expect((await parts.next()).value).toMatchObject({ data: { pets: [{}] }, hasNext: true });
    sendJson(await service.nextOrders(), 200, '[]');
    expect((await parts.next()).value).toMatchObject({ hasNext: false });
    expect((await parts.next()).done).toBe(true);
  });

  registryTest('cancels the REST calls of a client that disconnects', async () => {
    const client = new AbortController();
    const aborted = expect(post('{ orders }', client.signal)).rejects.toThrow();
    const closed = once(await service.nextOrders(), 'close');
    client.abort();
    await aborted;
    await closed;
  });

  registryTest('finishes the request in flight on SIGTERM, and exits', async () => {
    const response = post('{ orders }');
    const orders = await service.nextOrders();
    server.kill('SIGTERM');
    sendJson(orders, 200, '[2]');
    expect(await (await response).json()).toEqual({ data: { orders: [2] } });
    // Nest ends its process with the signal once its shutdown hooks have run.
    expect(await server.exited).toBe(section === 'Nest' ? null : 0);
  });
});
