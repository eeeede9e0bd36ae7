import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { createGateway, createNodeListener, type Gateway, loadConfig } from '../src/index.ts';
import { openTelemetry } from './support/log.ts';
import { startUpstream } from './support/upstream.ts';

const config = { ...loadConfig({ DATABASE_URL: ':memory:' }), graphiql: false };
const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
const list = JSON.stringify({ query: '{ pets(limit: 1) { id } }' });

/** A server that answers `/hello` itself and leaves `/api/graphql` to the gateway. */
interface Mounted extends AsyncDisposable {
  readonly url: string;
}

async function listen(server: Server): Promise<Mounted> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function mountInNode(gateway: Gateway): Promise<Mounted> {
  const listener = createNodeListener(gateway);
  return listen(
    createServer((incoming, outgoing) => {
      if (incoming.url?.startsWith('/api/graphql')) listener(incoming, outgoing);
      else outgoing.end('hello');
    }),
  );
}

async function mountInFastify(gateway: Gateway): Promise<Mounted> {
  const app = fastify({ forceCloseConnections: true });
  const listener = createNodeListener(gateway);
  app.get('/hello', async () => 'hello');
  app.register(async (scope) => {
    // The gateway reads the body itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/api/graphql', (request, reply) => {
      reply.hijack();
      return listener(request.raw, reply.raw);
    });
  });
  return {
    url: await app.listen({ port: 0, host: '127.0.0.1' }),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

function mountInHono(gateway: Gateway): Promise<Mounted> {
  const app = new Hono()
    .get('/hello', (context) => context.text('hello'))
    .all('/api/graphql', (context) => gateway(context.req.raw));
  return listen(createServer(getRequestListener(app.fetch)));
}

describe.each([
  ['node:http', mountInNode],
  ['Fastify', mountInFastify],
  ['Hono', mountInHono],
])('the gateway in a server of %s', (_, mount) => {
  it('answers GraphQL where it is mounted, and leaves the other routes alone', async () => {
    await using gateway = await createGateway(config);
    await using server = await mount(gateway);
    expect(await (await fetch(`${server.url}/hello`)).text()).toBe('hello');
    const url = `${server.url}/api/graphql`;
    const answer = await fetch(url, { method: 'POST', headers, body: list });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await answer.json()).toEqual({ data: { pets: [{ id: '1' }] } });
    const get = await fetch(`${url}?query={pets(limit:1){name}}`, { headers });
    expect(await get.json()).toEqual({ data: { pets: [{ name: 'Biscuit' }] } });
  });

  it('refuses a body beyond 256 KiB', async () => {
    await using gateway = await createGateway(config);
    await using server = await mount(gateway);
    const response = await fetch(`${server.url}/api/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: `{ pets { id } } # ${'x'.repeat(262_144)}` }),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'BODY_TOO_LARGE' } }],
    });
  });

  it('ends the calls of a client that leaves', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await using upstream = await startUpstream((_request, response) => {
      arrive();
      response.once('close', end);
    });
    await using gateway = await createGateway(
      loadConfig({ PETSTORE_BASE_URL: `${upstream.url}/v1` }),
    );
    await using server = await mount(gateway);
    const client = new AbortController();
    const { signal } = client;
    const gone = expect(
      fetch(`${server.url}/api/graphql`, { method: 'POST', headers, body: list, signal }),
    ).rejects.toThrow();
    await arrived;
    client.abort();
    await gone;
    await ended;
  });
});

describe('the listener for node:http', () => {
  it('answers 400 to a Host that no URL can hold', async () => {
    await using gateway = await createGateway(config);
    await using server = await mountInNode(gateway);
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.end('GET /api/graphql HTTP/1.1\r\nHost: [bad\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('the gateway as a fetch handler', () => {
  it('is a route handler of the kind that Next has, streamed body and all', async () => {
    await using gateway = await createGateway(config);
    const POST: (request: Request, context: { params: Promise<object> }) => Promise<Response> =
      gateway;
    const request = new Request('https://shop.example/api/graphql', {
      method: 'POST',
      headers,
      body: new Blob([list]).stream(),
      duplex: 'half',
    } as RequestInit);
    const response = await POST(request, { params: Promise.resolve({}) });
    expect(response).toBeInstanceOf(Response);
    expect(await response.json()).toEqual({ data: { pets: [{ id: '1' }] } });
  });

  it('answers GraphQL at any address and nothing else, and GraphiQL where it is on', async () => {
    await using gateway = await createGateway({ ...config, graphiql: true });
    for (const path of ['/', '/api/graphql', '/v1/pets', '/livez']) {
      const url = `https://shop.example${path}`;
      const answer = await gateway(new Request(url, { method: 'POST', headers, body: list }));
      expect([path, await answer.json()]).toEqual([path, { data: { pets: [{ id: '1' }] } }]);
    }
    const page = await gateway(
      new Request('https://shop.example/api/graphql', { headers: { accept: 'text/html' } }),
    );
    expect(await page.text()).toContain('Bearer demo-key');
  });

  it('lets the deadline of its caller cost the fields that are late, and no other', async () => {
    await using upstream = await startUpstream((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url.startsWith('/v1/pets')) response.end('[]');
    });
    await using gateway = await createGateway(
      loadConfig({ PETSTORE_BASE_URL: `${upstream.url}/v1`, LOG_LEVEL: 'silent' }),
    );
    const response = await gateway(
      new Request('http://localhost', {
        method: 'POST',
        headers,
        body: JSON.stringify({ query: '{ pets { id } orders }' }),
        signal: AbortSignal.timeout(500),
      }),
    );
    expect(await response.json()).toMatchObject({
      data: { pets: [], orders: null },
      errors: [{ path: ['orders'], extensions: { code: 'UPSTREAM_TIMEOUT' } }],
    });
  });

  it('closes its backend when it is disposed of', async () => {
    const { log, logged } = openTelemetry();
    const gateway = await createGateway(config, log);
    await gateway[Symbol.asyncDispose]();
    const answer = await gateway(
      new Request('http://localhost', { method: 'POST', headers, body: list }),
    );
    expect(await answer.json()).toMatchObject({
      data: { pets: null },
      errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
    });
    expect(logged).toHaveLength(1);
  });

  it('rejects when its database can not be opened', async () => {
    const nowhere = loadConfig({ DATABASE_URL: 'file:/dev/null/pets.db' });
    await expect(createGateway(nowhere)).rejects.toThrow(/^DATABASE_URL: /);
  });
});
