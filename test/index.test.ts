import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ListPetsDocument } from '../packages/client/src/documents.ts';
import {
  createGateway,
  createLazyGateway,
  type Gateway,
  type LocalExecute,
  loadConfig,
} from '../src/index.ts';
import { openTelemetry } from './support/log.ts';
import { mountInNode } from './support/mounted.ts';
import { petsFirst, readParts, sendForParts } from './support/parts.ts';
import { openMountable } from './support/rest-gateway.ts';
import { startServer } from './support/server.ts';
import { sendJson, startUpstream } from './support/upstream.ts';

const config = { ...loadConfig({ DATABASE_URL: ':memory:' }), graphiql: false };
const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
const list = JSON.stringify({ query: '{ pets(limit: 1) { id } }' });

const pets = '[{"id":1,"name":"a","categoryId":1}]';

/** It waits for a turn. */
const longDocument = `{ orders } #${'x'.repeat(250)}`;

const post = (init: RequestInit = {}) =>
  new Request('https://shop.example/api/graphql', { method: 'POST', headers, body: list, ...init });

describe.each([
  ['node:http', false],
  ['a server that strips its path, as Express does', true],
])('the gateway mounted in %s', (_, strips) => {
  const mount = (gateway: Gateway) => mountInNode(gateway, strips);

  it('serves GraphQL at its path and leaves other routes to the server', async () => {
    await using gateway = await createGateway(config);
    await using server = await mount(gateway);
    expect(await (await fetch(`${server.url}/hello`)).text()).toBe('hello');
    const url = `${server.url}/api/graphql`;
    const response = await fetch(url, { method: 'POST', headers, body: list });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.json()).toEqual({ data: { pets: [{ id: '1' }] } });
    const get = await fetch(`${url}?query={pets(limit:1){name}}`, { headers });
    expect(await get.json()).toEqual({ data: { pets: [{ name: 'Biscuit' }] } });
  });

  it('serves GraphiQL at its path, and records the requested path', async () => {
    const { log, requests } = openTelemetry();
    await using gateway = await createGateway({ ...config, graphiql: true }, log);
    await using server = await mount(gateway);
    const url = `${server.url}/api/graphql`;
    const page = await fetch(url, { headers: { accept: 'text/html' }, redirect: 'error' });
    expect(await page.text()).toContain('query Storefront');
    const refused = await fetch(`${url}?query={pets{id}}`, { method: 'PUT', headers });
    expect(refused.status).toBe(405);
    const titles = requests().map(({ operation }) => operation);
    expect(titles).toEqual(['GET /api/graphql', 'PUT /api/graphql']);
  });

  it('sends parts as they are produced, and cancels the rest when the client disconnects', async () => {
    const completed = Promise.withResolvers<ServerResponse>();
    const cancelled = Promise.withResolvers<ServerResponse>();
    const arrivals = [completed, cancelled];
    await using opened = await openMountable(({ url }, response) => {
      if (url.includes('orders')) arrivals.shift()?.resolve(response);
      else sendJson(response, 200, '[]');
    });
    await using server = await mount(opened.gateway);
    const open = async (signal?: AbortSignal) =>
      readParts(await sendForParts(fetch, `${server.url}/api`, petsFirst, undefined, signal));
    const parts = await open();
    expect((await parts.next()).value).toMatchObject({ data: { pets: [] }, hasNext: true });
    sendJson(await completed.promise, 200, '[]');
    expect((await parts.next()).value).toMatchObject({ hasNext: false });
    expect((await parts.next()).done).toBe(true);

    const client = new AbortController();
    await (await open(client.signal)).next();
    const closed = once(await cancelled.promise, 'close');
    client.abort();
    await closed;
  });
});

describe('nodeListener', () => {
  it('responds with a helpful 500 when the body has already been read', async () => {
    await using gateway = await createGateway(config);
    const listener = gateway.nodeListener;
    await using server = await startServer(
      createServer(async (incoming, outgoing) => {
        await text(incoming);
        await listener(incoming, outgoing);
      }),
    );
    const response = await fetch(server.url, { method: 'POST', headers, body: list });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      errors: [
        {
          message: expect.stringContaining('mount the gateway before body parsers'),
          extensions: { code: 'BODY_ALREADY_READ' },
        },
      ],
    });
  });
});

describe('the gateway as a fetch handler', () => {
  it.each([
    ['with its length', { 'content-length': `${list.length}` }],
    ['of unknown length', {}],
  ])('executes a request %s, whose signal is aborted once its body has been read', async (_, length) => {
    await using gateway = await createGateway(config);
    const host = new AbortController();
    const { signal } = host;
    // As srvx 0.8 does, with which Nitro 3.0.0 serves.
    const body = new Blob([list])
      .stream()
      .pipeThrough(new TransformStream({ flush: () => host.abort() }));
    const init = { body, signal, duplex: 'half', headers: { ...headers, ...length } };
    const response = await gateway(post(init as RequestInit));
    expect(await response.json()).toEqual({ data: { pets: [{ id: '1' }] } });
    expect(signal.aborted).toBe(true);
  });

  it('executes no request that was cancelled before, or whose time is over', async () => {
    await using gateway = await createGateway(config);
    const codeOf = async (signal: AbortSignal) => {
      const { errors } = await (await gateway(post({ signal }))).json();
      return errors[0].extensions.code;
    };
    expect(await codeOf(AbortSignal.abort())).toBe('CANCELLED');
    const timeout = new AbortController();
    queueMicrotask(() => timeout.abort(new DOMException('Too late.', 'TimeoutError')));
    expect(await codeOf(timeout.signal)).toBe('UPSTREAM_TIMEOUT');
  });

  it('serves GraphQL at any path, and GraphiQL when enabled, uncompressed', async () => {
    await using gateway = await createGateway({ ...config, graphiql: true });
    for (const path of ['/', '/api/graphql', '/v1/pets', '/livez']) {
      const url = `https://shop.example${path}`;
      const response = await gateway(new Request(url, { method: 'POST', headers, body: list }));
      expect([path, await response.json()]).toEqual([path, { data: { pets: [{ id: '1' }] } }]);
    }
    const page = await gateway(
      new Request('https://shop.example/api/graphql', {
        headers: { accept: 'text/html', 'accept-encoding': 'gzip, br' },
      }),
    );
    expect(page.headers.get('content-security-policy')).toMatch(/; script-src 'sha256-/);
    expect(page.headers.get('content-encoding')).toBe(null);
    expect(await page.text()).toContain('"apiKey":"demo-key"');
  });

  it('hears of a client that leaves between two parts, although nobody else keeps its request', async () => {
    const opened = await openMountable(({ url }, response) => {
      if (url.startsWith('/v1/pets')) sendJson(response, 200, pets);
    });
    const client = new AbortController();
    const body = JSON.stringify({ query: '{ pets { id } ... @defer { orders } }' });
    const accept = { ...headers, accept: 'multipart/mixed' };
    const response = await opened.gateway(post({ body, headers: accept, signal: client.signal }));
    for (let times = 0; times < 5; times++) {
      await setImmediate();
      globalThis.gc?.();
    }
    client.abort();
    // It waits for the requests in flight.
    await opened[Symbol.asyncDispose]();
    expect(response.status).toBe(200);
  });

  it('nulls only the late fields when the deadline of the caller passes', async () => {
    await using opened = await openMountable(({ url }, response) => {
      if (url.startsWith('/v1/pets')) sendJson(response, 200, '[]');
    });
    const body = JSON.stringify({ query: '{ pets { id } orders }' });
    const response = await opened.gateway(post({ body, signal: AbortSignal.timeout(3000) }));
    expect(await response.json()).toMatchObject({
      data: { pets: [], orders: null },
      errors: [{ path: ['orders'], extensions: { code: 'UPSTREAM_TIMEOUT' } }],
    });
  });

  it('completes requests in flight when disposed, and rejects later ones with 503', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>();
    const created = '{"id":1,"name":"a","categoryId":1}';
    await using opened = await openMountable(({ method }, response) => {
      if (method === 'GET') sendJson(response, 200, pets);
      else if (opened.upstream.seen.length === 2) arrive(response);
      else sendJson(response, 201, created);
    });
    const { gateway, logged } = opened;
    // After this one, nothing is in flight.
    await gateway(post());
    const add = 'addPet(input: { name: "a", categoryId: 1 }) { id }';
    const inFlight = gateway(
      post({ body: JSON.stringify({ query: `mutation { a: ${add} b: ${add} }` }) }),
    );
    const first = await arrived;
    const disposed = [gateway[Symbol.asyncDispose](), gateway[Symbol.asyncDispose]()];
    sendJson(first, 201, created);
    expect(await (await inFlight).json()).toEqual({ data: { a: { id: '1' }, b: { id: '1' } } });
    await Promise.all(disposed);
    const late = await gateway(post());
    const extensions = {
      code: 'GATEWAY_CLOSED',
      status: 503,
      retryAfterMs: 1000,
      requestId: expect.any(String),
    };
    expect([late.status, late.headers.get('retry-after'), await late.json()]).toMatchObject([
      503,
      '1',
      { errors: [{ extensions }] },
    ]);
    expect(await gateway.execute('{ pets { id } }')).toMatchObject({ errors: [{ extensions }] });
    expect(logged).toEqual([]);
  });

  it('ends a response in parts that nobody reads when disposed, after the time limit of calls', async () => {
    const { gateway, requests } = await openMountable(undefined, { UPSTREAM_TIMEOUT_MS: '200' });
    const unread = await sendForParts(gateway, 'https://shop.example/api');
    expect(unread.status).toBe(200);
    expect(requests()).toEqual([]);
    await gateway[Symbol.asyncDispose]();
    expect(requests()).toMatchObject([{ status: 200, firstPartMs: expect.any(Number) }]);
  });

  it.each([
    ['at the end of a turn', 'none'],
    ['in a turn of its own', 'none'.repeat(100_000)],
  ])('fails only the call whose log line throws %s', async (_, invalid) => {
    await using upstream = await startUpstream(({ url }, response) =>
      sendJson(response, 200, url.includes('orders') ? invalid : '[]'),
    );
    const { log, logged } = openTelemetry();
    const warn = () => {
      throw new TypeError('broken log');
    };
    const rest = loadConfig({ PETSTORE_BASE_URL: `${upstream.url}/v1` });
    await using gateway = await createGateway(rest, Object.assign(log, { warn }));
    const query = '{ a: orders b: orders pets { id } }';
    const { authorization } = headers;
    const errors = ['a', 'b'].map((name) => ({
      path: [name],
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    }));
    const result = await gateway.execute(query, {}, { authorization });
    expect(result).toMatchObject({ data: { a: null, b: null, pets: [] }, errors });
    expect(logged.join('')).toMatch(/"TypeError".*broken log.*unexpected error/);
  });

  it('logs misspelled variables, as the command does', async () => {
    const { log, logged } = openTelemetry();
    const env = { DATABASE_URL: ':memory:', LOG_LVL: 'hunter2' };
    await using _ = await createGateway(loadConfig(env), log);
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', variables: ['LOG_LVL (did you mean LOG_LEVEL?)'] },
    ]);
    expect(logged.join()).not.toContain('hunter2');
  });

  it('returns its metrics as OpenMetrics text', async () => {
    await using gateway = await createGateway(config);
    await gateway.execute('query Counted { orders }', {}, { authorization: 'Bearer demo-key' });
    const lazy = createLazyGateway(async () => gateway);
    for (const text of await Promise.all([gateway.metrics(), lazy.metrics()])) {
      expect(text).toMatch(
        /^petstore_graphql_request_duration_seconds_count\{operation="Counted",outcome="success"\} 1$/m,
      );
      expect(text).toMatch(/# EOF\n$/);
    }
  });

  it('rejects a configuration without a setting', async () => {
    const { backend, ...without } = config;
    for (const value of [undefined, {}, without]) {
      await expect(createGateway(value as never)).rejects.toThrow(
        /^createGateway: expected a configuration from loadConfig\(process.env\), received one without backend\.$/,
      );
    }
  });

  it('rejects when the database cannot be opened', async () => {
    const nowhere = loadConfig({ DATABASE_URL: 'file:/dev/null/pets.db' });
    await expect(createGateway(nowhere)).rejects.toThrow(/^DATABASE_URL: /);
  });
});

describe('a lazy gateway', () => {
  const caller = { authorization: 'Bearer demo-key' };

  it('opens once, at the first request', async () => {
    await using gateway = await createGateway(config);
    let times = 0;
    const lazy = createLazyGateway(async () => {
      times++;
      return gateway;
    });
    expect(times).toBe(0);
    const [response, { data }] = await Promise.all([
      lazy(post()),
      lazy.execute(ListPetsDocument, { limit: 1 }, caller),
    ]);
    expect(await response.json()).toEqual({ data: { pets: [{ id: '1' }] } });
    expect(data?.pets?.map((pet) => pet.id)).toEqual(['1']);
    expect(times).toBe(1);
  });

  it('rejects while it cannot be opened, and opens later', async () => {
    await using gateway = await createGateway(config);
    const env: Record<string, string> = { PORT: 'none' };
    const lazy = createLazyGateway(() => {
      loadConfig(env);
      return Promise.resolve(gateway);
    });
    await expect(lazy(post())).rejects.toThrow(/PORT/);
    await expect(lazy.execute('{ orders }', {}, caller)).rejects.toThrow(/PORT/);
    delete env['PORT'];
    expect((await lazy(post())).status).toBe(200);
  });
});

describe('a lazy gateway that is disposed', () => {
  it('disposes the gateway, also while it opens, and refuses later requests', async () => {
    const lazy = createLazyGateway(() => createGateway(config));
    const first = lazy(post());
    await lazy[Symbol.asyncDispose]();
    // The first has not been read when the gateway is open, and disposed.
    for (const late of [first, lazy(post())]) expect((await late).status).toBe(503);
    await lazy[Symbol.asyncDispose]();
  });

  it('is never opened if it was not used before', async () => {
    let times = 0;
    const lazy = createLazyGateway(() => {
      times++;
      return createGateway(config);
    });
    await lazy[Symbol.asyncDispose]();
    await expect(lazy(post())).rejects.toThrow('This gateway was disposed');
    expect(times).toBe(0);
  });

  it('is disposed although it cannot be opened', async () => {
    const lazy = createLazyGateway(() => createGateway(loadConfig({ PORT: 'none' })));
    await expect(lazy(post())).rejects.toThrow(/PORT/);
    await lazy[Symbol.asyncDispose]();
  });
});

/** Expects only arrays, and objects with the ordinary prototype, at every level. */
function expectPlain(value: unknown): void {
  expect(['string', 'number', 'boolean', 'object']).toContain(typeof value);
  if (typeof value !== 'object' || value === null) return;
  const ordinary: object = Array.isArray(value) ? Array.prototype : Object.prototype;
  expect(Object.getPrototypeOf(value) === ordinary).toBe(true);
  expect(JSON.isRawJSON(value)).toBe(false);
  for (const key of Object.keys(value)) {
    expectPlain(Object.getOwnPropertyDescriptor(value, key)?.value);
  }
}

describe('gateway.execute', () => {
  const authorization = 'Bearer demo-key';

  it('refuses an id that JavaScript may have rounded', async () => {
    const { log, requests } = openTelemetry();
    await using gateway = await createGateway(config, log);
    const add = 'mutation Add($input: AddPetInput!) { addPet(input: $input) { categoryId } }';
    const addTo = (categoryId: unknown) =>
      gateway.execute(add, { input: { name: 'Rex', categoryId } }, { authorization });
    const message =
      'ID cannot represent value: the number 9007199254740992, which may be rounded: pass a string or a bigint';
    const issues = [{ path: ['input', 'categoryId'], message }];
    expect(await addTo(2 ** 53)).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT', issues } }],
    });
    expect(requests()).toMatchObject([{ operation: 'mutation Add', codes: ['BAD_USER_INPUT'] }]);
    const byVariable = 'query ($id: ID!) { pet(id: $id) { id } }';
    expect(await gateway.execute(byVariable, { id: -1e300 }, { authorization })).toMatchObject({
      errors: [{ extensions: { issues: [{ path: ['id'] }] } }],
    });
    for (const exact of ['9007199254740993', 9007199254740993n]) {
      expect(await addTo(exact)).toEqual({ data: { addPet: { categoryId: '9007199254740993' } } });
    }
  });

  it('returns typed errors, logs requests and applies the limits', async () => {
    const { log, requests } = openTelemetry();
    await using gateway = await createGateway(config, log);
    const caller = { authorization, requestId: 'bff-1' };
    const codes = async (query: string) => {
      const { errors } = await gateway.execute(query, {}, caller);
      return errors?.map(({ extensions }) => extensions);
    };
    expect(await codes('{ pets(limit: 0) { id } }')).toMatchObject([
      { code: 'BAD_USER_INPUT', requestId: 'bff-1' },
    ]);
    const tooLarge = await gateway.execute(`{ ${'orders '.repeat(21)} }`, {}, caller);
    expect(tooLarge).toMatchObject({ errors: [{ extensions: { code: 'OPERATION_TOO_LARGE' } }] });
    expect(tooLarge).not.toHaveProperty('data');
    expect(await codes('{ nope }')).toMatchObject([{ code: 'GRAPHQL_VALIDATION_FAILED' }]);
    expect(requests()).toHaveLength(3);
    const codesOfFirst = ['BAD_USER_INPUT'];
    expect(requests()[0]).toMatchObject({ requestId: 'bff-1', codes: codesOfFirst });
  });

  it.each<[status: number, code: string, ...Parameters<LocalExecute>]>([
    [400, 'OPERATION_TOO_LARGE', `{ ${'orders '.repeat(21)} }`],
    [
      500,
      'INTERNAL_SERVER_ERROR',
      '{ orders }',
      {
        get broken() {
          throw new Error('broken');
        },
      },
    ],
    [503, 'CANCELLED', longDocument, {}, { signal: AbortSignal.abort() }],
    [
      504,
      'UPSTREAM_TIMEOUT',
      longDocument,
      {},
      { signal: AbortSignal.abort(new DOMException('', 'TimeoutError')) },
    ],
  ])('logs a refusal with its status %i: %s', async (status, code, ...operation) => {
    const { log, requests } = openTelemetry();
    await using gateway = await createGateway(config, log);
    const { errors } = await gateway.execute(...operation);
    expect(errors).toMatchObject([{ extensions: { code } }]);
    expect(requests()).toMatchObject([{ status, codes: [code] }]);
  });

  describe('returns data that any framework takes', () => {
    const orders =
      '{"__proto__":{"id":9007199254740993},"total":0.12345678901234567890,"lines":[{"id":-9007199254740993,"count":2}],"none":null}';
    const expected = {
      ['__proto__']: { id: '9007199254740993' },
      total: '0.12345678901234567890',
      lines: [{ id: '-9007199254740993', count: 2 }],
      none: null,
    };
    const query = '{ pets { id name } orders pet(id: 1) { id } }';

    /** Opens a gateway for a REST service that has no `pet`, and responds with orders after `gate`. */
    const open = (gate?: Promise<void>) =>
      openMountable(async ({ url }, response) => {
        if (url.includes('orders')) {
          await gate;
          sendJson(response, 200, orders);
        } else if (url.includes('pets/')) {
          sendJson(response, 404, '{"code":"pet_not_found","message":"No.","status":404}');
        } else sendJson(response, 200, '[{"id":9007199254740993,"name":"a","categoryId":1}]');
      });

    const error = {
      message: 'No.',
      locations: [{ line: 1, column: expect.any(Number) }],
      path: ['pet'],
      extensions: {
        code: 'NOT_FOUND',
        status: 404,
        error: { code: 'pet_not_found', message: 'No.', status: 404 },
        requestId: 'test',
      },
    };
    const deprecation = {
      field: 'Query.pet',
      removal: '2030-12-05',
      replacement: 'Query.pets(status:)',
    };

    const whole = {
      errors: [error],
      data: { pets: [{ id: '9007199254740993', name: 'a' }], orders: expected, pet: null },
      extensions: { deprecations: [deprecation] },
    };
    const caller = { authorization, requestId: 'test' };

    it('from the first call on, with ordinary prototypes', async () => {
      await using opened = await open();
      for (let call = 0; call < 4; call++) {
        const result = await opened.gateway.execute(query, {}, caller);
        expect(result).toStrictEqual(whole);
        expectPlain(result);
      }
    });

    it('and that no other caller shares', async () => {
      const { promise: gate, resolve: release } = Promise.withResolvers<void>();
      await using opened = await open(gate);
      const { gateway } = opened;
      const read = () => gateway.execute('{ orders }', {}, { authorization });
      const reads = [read(), read()];
      await vi.waitFor(() => expect(opened.upstream.seen).toHaveLength(1));
      release();
      const [one, other] = (await Promise.all(reads)).map((result) => result?.data?.['orders']);
      expect(opened.upstream.seen).toHaveLength(1);
      (one as typeof expected).lines.push({ id: 'mine', count: 0 });
      (one as typeof expected).total = 'mine';
      expect(other).toStrictEqual(expected);
    });
  });

  it('resolves for a caller that is null', async () => {
    await using gateway = await createGateway(config);
    const result = await gateway.execute('{ pets { id } }', {}, null as never);
    expect(result.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  });

  it('returns deferred fragments in its single result', async () => {
    await using gateway = await createGateway(config);
    const whole = await gateway.execute('{ ... @defer { __typename } }', {}, { authorization });
    expect(whole).toEqual({ data: { __typename: 'Query' } });
  });
});
