import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import type { OriginLimits } from '../../src/backends/rest/origin.ts';
import type { PetStore } from '../../src/contract/pet-store.ts';
import { keyOf } from '../../src/limits/key.ts';
import type { Share } from '../../src/limits/share.ts';
import { createFetchHandler } from '../../src/server/http/fetch.ts';
import { encodeResponse } from '../support/fault-server.ts';
import { startRest } from '../support/faulty-rest.ts';
import { startGateway, type TestOptions } from '../support/gateway.ts';
import { outlastHalfClose } from '../support/half-close.ts';
import { openTelemetry } from '../support/log.ts';
import { refusalsIn, valuesOf } from '../support/metrics.ts';
import { readParts, sendForParts } from '../support/parts.ts';
import { connectTo } from '../support/raw-http.ts';

const authorization = 'Bearer demo-key';
const caller = { authorization };
const patient = { timeout: 5000, interval: 10 };

const orders = '{ orders }';
const ordersLater = '{ pets(limit: 1) { id } ... @defer { orders } }';
const petLater = '{ a: orders b: orders ... @defer { pet(id: 1) { id } } }';
const addPet = 'mutation { addPet(input: { name: "Rex", categoryId: 2 }) { id } }';

const noOrders = encodeResponse('200 OK', '[]');

/** Two of them fit into a response, and exceed the buffers of a connection. */
const largeOrders = encodeResponse('200 OK', `"${'x'.repeat(3_900_000)}"`);

const MiB = 1024 * 1024;

interface GatewayOptions {
  /** Replaces parts of the gateway. `released` resolves when the test calls `release`. */
  readonly replace?: (petStore: PetStore, released: Promise<void>) => TestOptions;
  readonly limits?: Partial<OriginLimits>;
  readonly timeoutMs?: number;
}

/** Starts a gateway for a REST service that holds all responses except those of `GET /pets`. */
async function open({ replace, limits, timeoutMs }: GatewayOptions) {
  await using stack = new AsyncDisposableStack();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const calls: { readonly path: string; readonly socket: Socket }[] = [];
  const rest = stack.use(
    await startRest(
      (socket, _, request) => {
        const [, path = ''] = request.split(' ');
        if (request.startsWith('GET /v1/pets?')) {
          socket.write(encodeResponse('200 OK', '[{"id":1,"name":"Rex","categoryId":2}]'));
        } else calls.push({ path, socket });
      },
      limits,
      timeoutMs,
    ),
  );
  const { petStore } = rest;
  const gateway = stack.use(await startGateway({ petStore, ...replace?.(petStore, released) }));
  const disposables = stack.move();

  function connectClient(): Socket {
    const client = connectTo(gateway.url);
    disposables.defer(() => void client.destroy());
    return client;
  }

  return {
    ...gateway,
    rest,
    release,
    connect: connectClient,
    /** Sends bytes on a connection of their own. */
    send(bytes: string): Socket {
      const client = connectClient();
      client.write(bytes);
      return client;
    },
    /** Resolves when the service holds this many calls. */
    called: (count = 1) => vi.waitFor(() => expect(calls).toHaveLength(count), patient),
    /** Responds to the calls to a path. */
    respond(bytes: string | Buffer, path = '/v1/store/orders'): void {
      for (const call of calls) if (call.path === path) call.socket.write(bytes);
    },
    /** Closes the connections of all calls. */
    breakCalls(): void {
      for (const { socket } of calls) socket.destroy();
    },
    /** Returns what is used of each limit, without those of which nothing is used. */
    async used(): Promise<Record<string, number>> {
      const usedIn = ({ metrics }: Pick<typeof rest, 'metrics'>) =>
        valuesOf(metrics, 'petstore_limit_used', 'limit');
      return { ...(await usedIn(gateway)), ...(await usedIn(rest)) };
    },
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

interface EndedRequest extends GatewayOptions {
  /** The limits of which the request uses something before it ends. */
  readonly holds: readonly string[];
  /** What the client sends. */
  readonly bytes: string;
  /** How many calls the service receives before the request ends. */
  readonly calls?: number;
  /** What the service sends in response to the call for orders before the request ends. */
  readonly response?: Buffer;
  /** Text that the client receives before the request ends; without it, the client reads nothing. */
  readonly received?: string;
  /** Ends the request of this client. */
  end(client: Socket, gateway: Opened): unknown;
}

/** Begins a request without a connection. Returns what ends it. */
type Begin = (gateway: Opened) => Promise<() => unknown>;

function head(more: string, key = 'demo-key'): string {
  return `POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
}

/** Returns a POST; `length` pads its body. */
function post(query: string, { more = '', key = 'demo-key', length = 0 } = {}): string {
  const body = JSON.stringify({ query }).padEnd(length);
  return `${head(`${more}Content-Length: ${body.length}`, key)}${body}`;
}

const acceptParts = { more: 'Accept: multipart/mixed\r\n' };
const firstPart = '"hasNext":true';

/** The first 100,000 bytes of a body. */
const partOfBody = `${head('Content-Length: 200000')}${' '.repeat(100_000)}`;
const partOfChunks = `${head('Transfer-Encoding: chunked')}4e20\r\n${' '.repeat(20_000)}\r\n`;

/** Reads until the client has received this text. */
async function receive(client: Socket, expected: string): Promise<void> {
  let received = '';
  for await (const chunk of client.iterator({ destroyOnReturn: false })) {
    received += chunk;
    if (received.includes(expected)) return;
  }
  throw new Error(`Expected ${expected}, received ${received.slice(0, 1000)}`);
}

const destroy = (client: Socket) => client.destroy();
const reset = (client: Socket) => client.resetAndDestroy();

/** Expects the rest of the response to match. */
const expectRest = (expected: RegExp) => async (client: Socket) =>
  expect(await text(client)).toMatch(expected);

/** Sends more bytes, and expects the response to match. */
const sendRest = (bytes: string, expected: RegExp) => async (client: Socket) => {
  client.write(bytes);
  expect(await text(client)).toMatch(expected);
};

/** Lets the service respond, and expects the response to match. */
const respondWith =
  (response: Buffer | string, expected: RegExp) => async (client: Socket, gateway: Opened) => {
    gateway.respond(response);
    expect(await text(client)).toMatch(expected);
  };

/** Sends a second request of this key, which is refused, and lets the first one finish. */
const refuseNext = (key: string, status: number) => async (client: Socket, gateway: Opened) => {
  const refused = await text(gateway.send(post(orders, { key, length: 100_000 })));
  expect(refused).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  await respondWith(noOrders, /\{"data":\{"orders":\[\]\}\}/)(client, gateway);
};

/** Allows the pet store to fail, and expects the response to match. */
const failWith = (expected: RegExp) => async (client: Socket, gateway: Opened) => {
  gateway.release();
  expect(await text(client)).toMatch(expected);
};

/** Takes all but 4 KiB of an amount, by default for the demo key. */
function takeMost(share: Share, total: number, holder = authorization) {
  const taken = share.take(keyOf(holder), total - 4096);
  if (typeof taken === 'string') throw new Error('Expected an unused limit');
  return { [Symbol.dispose]: taken };
}

/** Expects that the connection is closed before the end of the response. */
async function expectCut(client: Socket): Promise<void> {
  let received = '';
  client
    .resume()
    .setEncoding('utf8')
    .on('data', (chunk) => {
      received += chunk;
    });
  await once(client, 'close');
  expect(received).not.toMatch(/x"\}\}$/);
}

/** A pet store whose orders fail with this error, when the test allows it. */
const failing = (error: unknown) => (petStore: PetStore, released: Promise<void>) => ({
  petStore: { ...petStore, listOrders: () => released.then(() => Promise.reject(error)) },
});

const request = ['requests', 'unknown_requests'];
const call = ['pets_calls', ...request];
const receiving = [...call, 'pets_response_bytes'];

/** Requests before they end. */
const idle = { holds: [], bytes: '' };
const sending = { holds: ['body_bytes'], bytes: partOfBody };
const sendingChunks = { holds: ['body_bytes'], bytes: partOfChunks };
const reading = { holds: call, bytes: post(orders), calls: 1 };
const readingWithBody = {
  holds: [...call, 'body_bytes'],
  bytes: post(orders, { length: 100_000 }),
  calls: 1,
};
const waiting = {
  holds: [...call, 'pets_waiting_calls'],
  limits: { maxConnections: 1 },
  bytes: post('{ orders pet(id: 1) { id } }'),
  calls: 1,
};
const receivingResponse = {
  ...reading,
  holds: receiving,
  response: largeOrders.subarray(0, 200_000),
};
const unread = {
  holds: ['unread_bytes'],
  bytes: post('{ a: orders b: orders }'),
  calls: 1,
  response: largeOrders,
};
const tooLarge = { holds: call, bytes: unread.bytes, calls: 1 };
const readingParts = { holds: call, bytes: post(ordersLater, acceptParts), received: firstPart };

const leaving: Record<string, EndedRequest> = {
  'while it sends a body': { holds: ['body_bytes'], bytes: partOfBody, end: destroy },
  'while it sends a body in chunks': { holds: ['body_bytes'], bytes: partOfChunks, end: reset },
  'while its call is in flight': { ...readingWithBody, end: destroy },
  'with a reset': { holds: call, bytes: post(orders), calls: 1, end: reset },
  'by ending its side of the connection': { ...reading, end: (client) => client.end() },
  'with further input behind its request': {
    holds: [...call, 'unparsed_bytes'],
    bytes: post(orders) + 'x'.repeat(10_000),
    calls: 1,
    end: destroy,
  },
  'while its write is in flight, which is completed': {
    holds: call,
    bytes: post(addPet),
    calls: 1,
    end(client, { respond }) {
      client.destroy();
      respond(encodeResponse('201 Created', '{"id":1}'), '/v1/pets');
    },
  },
  'while its call waits for a connection': { ...waiting, end: destroy },
  'while the retry of its call is paused': {
    holds: [...request, 'pets_retries'],
    bytes: post(orders),
    calls: 1,
    response: encodeResponse('503 Busy', '', ['Retry-After: 5']),
    end: destroy,
  },
  'while the response of the service arrives': { ...receivingResponse, end: destroy },
  'before it reads its response': { ...unread, end: destroy },
  'with a reset before it reads its response': { ...unread, end: reset },
  'before the first part of its response': {
    holds: call,
    bytes: post('{ pet(id: 1) { id } ... @defer { orders } }', acceptParts),
    calls: 2,
    end: destroy,
  },
  'before it reads the first part of its response': {
    holds: [...receiving, 'unread_bytes'],
    bytes: post(petLater, acceptParts),
    calls: 2,
    response: largeOrders,
    end: destroy,
  },
  'after the first part of its response': { ...readingParts, end: destroy },
};

const responses: Record<string, EndedRequest> = {
  'that is complete': {
    ...readingWithBody,
    end: respondWith(noOrders, /\{"data":\{"orders":\[\]\}\}/),
  },
  'with an error of the service': {
    ...reading,
    end: respondWith(encodeResponse('403 Forbidden', ''), /"FORBIDDEN"/),
  },
  'that is read late': { ...unread, end: expectRest(/x"\}\}$/) },
  'after one of the service that breaks the contract': {
    holds: receiving,
    bytes: post(orders),
    calls: 1,
    response: encodeResponse('200 OK', ' '.repeat(200_000), ['Content-Length: 200001']),
    end: respondWith('}', /"UPSTREAM_INVALID_RESPONSE"/),
  },
  'after one that the service cuts off': {
    ...receivingResponse,
    async end(client, { breakCalls }) {
      breakCalls();
      expect(await text(client)).toContain('"UPSTREAM_UNAVAILABLE"');
    },
  },
  'after the deadline of its call': {
    ...reading,
    timeoutMs: 500,
    end: expectRest(/"UPSTREAM_TIMEOUT"/),
  },
  'after the deadline of a call that waits for a connection': {
    ...waiting,
    timeoutMs: 500,
    end: expectRest(/"UPSTREAM_TIMEOUT".*"UPSTREAM_TIMEOUT"/),
  },
  'after the deadline of a call whose response arrives': {
    ...receivingResponse,
    timeoutMs: 500,
    end: expectRest(/"UPSTREAM_TIMEOUT"/),
  },
  'in parts that is complete': {
    holds: receiving,
    bytes: post(petLater, acceptParts),
    calls: 2,
    response: largeOrders,
    received: firstPart,
    async end(client, { respond }) {
      respond(encodeResponse('404 Not Found', ''), '/v1/pets/1');
      expect(await text(client)).toContain('"hasNext":false');
    },
  },
};

const refusals: Record<string, EndedRequest> = {
  'of a body that is too large': {
    holds: ['body_bytes'],
    bytes: partOfBody.replace('200000', '300000'),
    end: sendRest(' '.repeat(200_000), /^HTTP\/1\.1 413 /),
  },
  'of a body in too many chunks': {
    ...sendingChunks,
    end: sendRest('1\r\n \r\n'.repeat(5000), /^HTTP\/1\.1 413 /),
  },
  'of a malformed body': { ...sendingChunks, end: sendRest('nonsense\r\n', /^HTTP\/1\.1 400 /) },
  'of a body that its client does not complete': {
    ...sending,
    async end(client) {
      expect(await text(client.end())).toMatch(/^HTTP\/1\.1 400 /);
    },
  },
  'of a document': {
    holds: ['body_bytes'],
    bytes: post('{ unknown }', { length: 100_000 }).slice(0, -1),
    end: sendRest(' ', /"GRAPHQL_VALIDATION_FAILED"/),
  },
  'for the bodies of its key': {
    ...idle,
    async end(_, { byteLimits, send }) {
      using _most = takeMost(byteLimits.bodyBytes, 8 * MiB);
      const refused = await text(send(post(orders, { length: 100_000 })));
      expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    },
  },
  'for the unparsed input of its key': {
    ...idle,
    async end(_, { byteLimits, metrics, send }) {
      using _most = takeMost(byteLimits.unparsedBytes, 4 * MiB);
      const chunks = '1\r\n \r\n'.repeat(3000);
      const refused = await text(send(`${head('Transfer-Encoding: chunked')}${chunks}`));
      expect(refused).toMatch(/^HTTP\/1\.1 429 .*"status":429,"retryAfterMs":1000/s);
      expect(await refusalsIn(metrics)).toEqual({ 'unparsed_bytes_of_key 429': 1 });
    },
  },
  'for all unparsed input': {
    ...idle,
    async end(_, { byteLimits, metrics, send }) {
      using others = new DisposableStack();
      for (const key of ['a', 'b', 'c', 'd']) {
        others.use(takeMost(byteLimits.unparsedBytes, 4 * MiB, `Bearer ${key}`));
      }
      const chunks = '1\r\n \r\n'.repeat(3000);
      const refused = await text(send(`${head('Transfer-Encoding: chunked')}${chunks}`));
      expect(refused).toMatch(/^HTTP\/1\.1 503 .*"status":503,"retryAfterMs":1000/s);
      expect(await refusalsIn(metrics)).toEqual({ 'unparsed_bytes 503': 1 });
    },
  },
  'for the unread responses of its key': {
    ...tooLarge,
    async end(client, { byteLimits, respond }) {
      using _most = takeMost(byteLimits.unreadBytes, 24 * MiB);
      respond(largeOrders);
      await expectCut(client);
    },
  },
  'for all unread responses': {
    ...tooLarge,
    async end(client, { byteLimits, respond }) {
      using _some = takeMost(byteLimits.unreadBytes, 20 * MiB, 'Bearer other');
      using _most = takeMost(byteLimits.unreadBytes, 12 * MiB, 'Bearer another');
      respond(largeOrders);
      await expectCut(client);
    },
  },
  'for the requests in flight of its key': {
    ...reading,
    replace: () => ({ maxRequestsInFlightPerKey: 1 }),
    end: refuseNext('demo-key', 429),
  },
  'for all requests in flight': {
    ...reading,
    replace: () => ({ maxRequestsInFlight: 1 }),
    end: refuseNext('other', 503),
  },
  'for the requests in flight of unknown keys': {
    ...reading,
    replace: () => ({ maxRequestsInFlight: 2 }),
    end: refuseNext('other', 503),
  },
  'of a call, because too many wait': {
    ...reading,
    limits: { maxConnections: 1, maxWaiting: 0 },
    async end(client, gateway) {
      expect(await text(gateway.send(post(orders)))).toContain('"UPSTREAM_UNAVAILABLE"');
      await respondWith(noOrders, /"orders":\[\]/)(client, gateway);
    },
  },
};

const closing: Record<string, EndedRequest> = {
  'and lets a request finish': {
    ...reading,
    async end(client, gateway) {
      const closed = gateway.close(10_000);
      await respondWith(noOrders, /"orders":\[\]/)(client, gateway);
      await closed;
    },
  },
  'before a request finishes': { ...reading, end: (_, { close }) => close(200) },
  'before a body arrives': { ...sending, end: (_, { close }) => close(200) },
  'before a response is read': { ...unread, end: (_, { close }) => close(200) },
  'and ends a response in parts': {
    ...readingParts,
    async end(client, { close }) {
      const closed = close(500);
      expect(await text(client)).toContain('"hasNext":false');
      await closed;
    },
  },
};

const internalError = /"INTERNAL_SERVER_ERROR"/;
const unexpected: Record<string, EndedRequest> = {
  'of the pet store': {
    holds: request,
    replace: failing(new TypeError('unexpected')),
    bytes: post(orders),
    end: failWith(internalError),
  },
  'of the pet store, which is not an Error': {
    holds: request,
    replace: failing('unexpected'),
    bytes: post(orders),
    end: failWith(internalError),
  },
  'of the pet store, in a deferred fragment': {
    holds: request,
    replace: failing('unexpected'),
    bytes: post(ordersLater, acceptParts),
    received: firstPart,
    end: failWith(internalError),
  },
  'of the REST interface': {
    holds: request,
    replace: (_, released) => ({
      createV1: () => () => released.then(() => Promise.reject('unexpected')),
    }),
    bytes: post('').replace('/graphql', '/v1/pets'),
    end: failWith(/^HTTP\/1\.1 500 /),
  },
  'of the log': {
    holds: [...call, 'body_bytes'],
    replace() {
      const telemetry = openTelemetry();
      const request = () => {
        throw new Error('unexpected');
      };
      return { telemetry: { ...telemetry, log: { ...telemetry.log, request } } };
    },
    bytes: post(orders, { length: 100_000 }),
    calls: 1,
    end: respondWith(noOrders, /^HTTP\/1\.1 500 /),
  },
};

/** Begins requests that are not sent over a connection. All of them make a call. */
const local: Record<string, Begin> = {
  'that receives its result': async ({ execute, called, respond }) => {
    const result = execute(orders, {}, caller);
    await called();
    return async () => {
      respond(noOrders);
      expect(await result).toEqual({ data: { orders: [] } });
    };
  },
  'that cancels': async ({ execute, called }) => {
    const controller = new AbortController();
    const result = execute(orders, {}, { ...caller, signal: controller.signal });
    await called();
    return async () => {
      controller.abort();
      expect(await result).toMatchObject({ errors: [{}] });
    };
  },
  'that is refused': async ({ execute, executeIncrementally, byteLimits, respond, called }) => {
    const inFlight = execute(orders, {}, caller);
    await called();
    return async () => {
      for (const document of ['{', '{ unknown }', 'mutation { unknown }']) {
        expect(await execute(document, {}, caller)).toMatchObject({ errors: [{}] });
        const results = await Array.fromAsync(executeIncrementally(document, {}, caller));
        expect(results).toMatchObject([{ errors: [{}], hasNext: false }]);
      }
      expect(byteLimits.bodyBytes.used).toBe(0);
      respond(noOrders);
      await inFlight;
    };
  },
  'that reads all results': async ({ executeIncrementally, called, respond }) => {
    const results = executeIncrementally(ordersLater, {}, caller);
    expect((await results.next()).value).toMatchObject({ hasNext: true });
    await called();
    return async () => {
      respond(noOrders);
      expect(await Array.fromAsync(results)).toMatchObject([{ hasNext: false }]);
    };
  },
  'that stops after the first result': async ({ executeIncrementally }) => {
    const results = executeIncrementally(ordersLater, {}, caller);
    await results.next();
    return () => results.return?.();
  },
  'that cancels while it waits for the second result': async ({ executeIncrementally }) => {
    const controller = new AbortController();
    const { signal } = controller;
    const results = executeIncrementally(ordersLater, {}, { ...caller, signal });
    await results.next();
    const rest = Array.fromAsync(results);
    return async () => {
      controller.abort();
      expect(await rest).toMatchObject([{ hasNext: false }]);
    };
  },
  'whose result is not in parts': async ({ executeIncrementally, called, respond }) => {
    const results = Array.fromAsync(executeIncrementally(orders, {}, caller));
    await called();
    return async () => {
      respond(noOrders);
      expect(await results).toEqual([{ data: { orders: [] }, hasNext: false }]);
    };
  },
  'of a fetch handler that cancels the body': async ({ handle, byteLimits, called }) => {
    const send = createFetchHandler(handle, byteLimits.bodyBytes);
    const parts = readParts(await sendForParts(send, 'http://gateway.test', ordersLater));
    await parts.next();
    await called();
    return () => parts.return();
  },
  'of a fetch handler that aborts before it reads the body': async (gateway) => {
    const send = createFetchHandler(gateway.handle, gateway.byteLimits.bodyBytes);
    const controller = new AbortController();
    const { signal } = controller;
    await sendForParts(send, 'http://gateway.test', ordersLater, undefined, signal);
    await gateway.called();
    return () => controller.abort();
  },
};

async function expectUsed(gateway: Opened, limits: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    expect(Object.keys(await gateway.used()).sort()).toEqual([...limits].sort());
  }, patient);
}

/** Expects that nothing is used, also after the connections have been closed. */
async function expectUnused(gateway: Opened): Promise<void> {
  await vi.waitFor(async () => expect(await gateway.used()).toEqual({}), patient);
  await gateway.close(0);
  expect(await gateway.used()).toEqual({});
}

describe('no limit is used', () => {
  it.each([
    ...rowsOf('after a client leaves', leaving),
    ...rowsOf('after a response', responses),
    ...rowsOf('after a refusal', refusals),
    ...rowsOf('after the gateway closes', closing),
    ...rowsOf('after an unexpected error', unexpected),
  ])(
    '%s',
    async (_, row) => {
      await using gateway = await open(row);
      const client = gateway.send(row.bytes).pause();
      await gateway.called(row.calls ?? 0);
      if (row.response) gateway.respond(row.response);
      if (row.received) await receive(client, row.received);
      await expectUsed(gateway, row.holds);
      await outlastHalfClose();
      await row.end(client, gateway);
      await expectUnused(gateway);
    },
    20_000,
  );

  it.each(rowsOf('after a caller in the same process', local))(
    '%s',
    async (_, begin) => {
      await using gateway = await open({});
      const end = await begin(gateway);
      await expectUsed(gateway, call);
      await end();
      await expectUnused(gateway);
    },
    20_000,
  );

  it('after the body of a request of a fetch handler breaks off', async () => {
    await using gateway = await open({});
    const send = createFetchHandler(gateway.handle, gateway.byteLimits.bodyBytes);
    const { promise: broken, reject } = Promise.withResolvers<never>();
    async function* bytes() {
      yield new Uint8Array(100_000);
      yield broken;
    }
    const body = Readable.toWeb(Readable.from(bytes()));
    const init = { method: 'POST', headers: caller, body, duplex: 'half' } as RequestInit;
    const response = send(new Request('http://gateway.test/graphql', init));
    await expectUsed(gateway, ['body_bytes']);
    reject(new Error('broken'));
    await expect(response).rejects.toThrow('broken');
    await expectUnused(gateway);
  });

  it('after a client that has ended its side of the connection gets no response', async () => {
    await using gateway = await open({});
    const client = gateway.connect().end(post(orders)).resume();
    await expectUsed(gateway, call);
    await once(client, 'close');
    await expectUnused(gateway);
  });
});

function rowsOf<Row>(when: string, rows: Record<string, Row>): [string, Row][] {
  return Object.entries(rows).map(([name, row]) => [`${when} ${name}`, row]);
}
