import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import type { OriginLimits } from '../../src/backends/rest/origin.ts';
import type { PetStore } from '../../src/petstore/operations.ts';
import { encodeResponse } from '../support/fault-server.ts';
import { startRest } from '../support/faulty-rest.ts';
import { startGateway, type TestOptions } from '../support/gateway.ts';
import { openTelemetry } from '../support/log.ts';
import { valuesOf } from '../support/metrics.ts';
import { readParts, sendForParts } from '../support/parts.ts';
import { connectTo } from '../support/raw-http.ts';

const caller = { authorization: 'Bearer demo-key' };
const patient = { interval: 10 };

const orders = '{ orders }';
const ordersLater = '{ pets(limit: 1) { id } ... @defer { orders } }';
const petLater = '{ a: orders b: orders ... @defer { pet(id: 1) { id } } }';
const addPet = 'mutation { addPet(input: { name: "Rex", categoryId: 2 }) { id } }';

const noOrders = encodeResponse('200 OK', '[]');

/** Two of them fit into a response, and exceed the buffers of a connection. */
const largeOrders = encodeResponse('200 OK', `"${'x'.repeat(3_900_000)}"`);

interface GatewayOptions {
  /** Replaces parts of the gateway. `released` resolves when the test calls `release`. */
  readonly replace?: (petStore: PetStore, released: Promise<void>) => TestOptions;
  readonly limits?: Partial<OriginLimits>;
  readonly timeoutMs?: number;
}

/** Starts a gateway for a REST service that holds all responses except those of `GET /pets`. */
async function open({ replace, limits, timeoutMs = 10_000 }: GatewayOptions) {
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

  return {
    ...gateway,
    rest,
    release,
    /** Sends bytes on a connection of their own. */
    send(bytes: string): Socket {
      const client = connectTo(gateway.url);
      disposables.defer(() => void client.destroy());
      client.write(bytes);
      return client;
    },
    /** Resolves when the service holds this many calls. */
    called: (count = 1) => vi.waitFor(() => expect(calls).toHaveLength(count), patient),
    /** Responds to the calls to a path. */
    respond(bytes: string | Buffer, path = '/v1/store/orders'): void {
      for (const call of calls) if (call.path === path) call.socket.write(bytes);
    },
    /** Returns what is used of each limit, without those of which nothing is used, and the bodies in parts. */
    async used(): Promise<Record<string, number>> {
      const usedIn = ({ metrics }: Pick<typeof rest, 'metrics'>) =>
        valuesOf(metrics, 'petstore_limit_used', 'limit');
      const { size } = gateway.streams;
      const parts = size > 0 && { 'bodies in parts': size };
      return { ...(await usedIn(gateway)), ...(await usedIn(rest)), ...parts };
    },
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

interface EndedRequest extends GatewayOptions {
  /** A limit of which the request uses something before it ends. */
  readonly holds: string;
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

function head(more: string): string {
  return `POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer demo-key\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
}

/** Returns a POST; `length` pads its body. */
function post(query: string, { more = '', length = 0 } = {}): string {
  const body = JSON.stringify({ query }).padEnd(length);
  return `${head(`${more}Content-Length: ${body.length}`)}${body}`;
}

const acceptParts = { more: 'Accept: multipart/mixed\r\n' };
const firstPart = '"hasNext":true';

/** The first 100,000 bytes of a body. */
const partOfBody = `${head('Content-Length: 200000')}${' '.repeat(100_000)}`;

/** Reads until the client has received this text. */
async function receive(client: Socket, expected: string): Promise<void> {
  let received = '';
  for await (const chunk of client.iterator({ destroyOnReturn: false })) {
    // Searching all of a large response again for each chunk takes seconds.
    received = received.slice(-expected.length) + chunk;
    if (received.includes(expected)) return;
  }
  throw new Error(`Expected ${expected}, received ${received.slice(0, 1000)}`);
}

const destroy = (client: Socket) => client.destroy();

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

/** Requests before they end. */
const sending = { holds: 'body_bytes', bytes: partOfBody };
const reading = { holds: 'pets_calls', bytes: post(orders), calls: 1 };
const readingWithBody = { ...reading, bytes: post(orders, { length: 100_000 }) };
const waiting = {
  holds: 'pets_waiting_calls',
  limits: { maxConnections: 1 },
  bytes: post('{ orders pet(id: 1) { id } }'),
  calls: 1,
};
const receivingResponse = {
  ...reading,
  holds: 'pets_response_bytes',
  response: largeOrders.subarray(0, 200_000),
};
const readingParts = {
  holds: 'pets_calls',
  bytes: post(ordersLater, acceptParts),
  received: firstPart,
};

const leaving: Record<string, EndedRequest> = {
  'while it sends a body': { ...sending, end: destroy },
  'while its call is in flight': { ...readingWithBody, end: destroy },
  'while its write is in flight, which is completed': {
    ...reading,
    bytes: post(addPet),
    end(client, { respond }) {
      client.destroy();
      respond(encodeResponse('201 Created', '{"id":1}'), '/v1/pets');
    },
  },
  'while its call waits for a connection': { ...waiting, end: destroy },
  'while the retry of its call is paused': {
    ...reading,
    holds: 'pets_retries',
    response: encodeResponse('503 Busy', '', ['Retry-After: 5']),
    end: destroy,
  },
  'while the response of the service arrives': { ...receivingResponse, end: destroy },
  'before it reads the first part of its response': {
    holds: 'pets_response_bytes',
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
  'after one of the service that breaks the contract': {
    ...receivingResponse,
    response: encodeResponse('200 OK', ' '.repeat(200_000), ['Content-Length: 200001']),
    end: respondWith('}', /"UPSTREAM_INVALID_RESPONSE"/),
  },
  'after the deadline of a call that waits for a connection': {
    ...waiting,
    timeoutMs: 2000,
    async end(client) {
      expect(await text(client)).toMatch(/"UPSTREAM_TIMEOUT".*"UPSTREAM_TIMEOUT"/);
    },
  },
  'in parts that is complete': {
    holds: 'pets_response_bytes',
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
    ...sending,
    bytes: partOfBody.replace('200000', '300000'),
    end: sendRest(' '.repeat(200_000), /^HTTP\/1\.1 413 /),
  },
  'of a document': {
    ...sending,
    bytes: post('{ unknown }', { length: 100_000 }).slice(0, -1),
    end: sendRest(' ', /"GRAPHQL_VALIDATION_FAILED"/),
  },
  'for the requests in flight of its key': {
    ...reading,
    replace: () => ({ maxRequestsInFlightPerKey: 1 }),
    async end(client, gateway) {
      expect(await text(gateway.send(readingWithBody.bytes))).toMatch(/^HTTP\/1\.1 429 /);
      await respondWith(noOrders, /"orders":\[\]/)(client, gateway);
    },
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
  'before a request finishes': { ...reading, end: (_, { close }) => close(200) },
  'and ends a response in parts': {
    ...readingParts,
    async end(client, { close }) {
      const closed = close(2000);
      expect(await text(client)).toContain('"hasNext":false');
      await closed;
    },
  },
};

const unexpected: Record<string, EndedRequest> = {
  'of the pet store': {
    holds: 'requests',
    replace: (petStore, released) => ({
      petStore: {
        ...petStore,
        listOrders: () => released.then(() => Promise.reject('unexpected')),
      },
    }),
    bytes: post(orders),
    async end(client, { release }) {
      release();
      expect(await text(client)).toMatch(/"INTERNAL_SERVER_ERROR"/);
    },
  },
  'of the log': {
    ...readingWithBody,
    replace() {
      const telemetry = openTelemetry();
      const request = () => {
        throw new Error('unexpected');
      };
      return { telemetry: { ...telemetry, log: { ...telemetry.log, request } } };
    },
    end: respondWith(noOrders, /"internal_server_error"/),
  },
};

/** Begins requests that are not sent over a connection. All of them make a call. */
const local: Record<string, Begin> = {
  'that cancels': async ({ execute, called }) => {
    const controller = new AbortController();
    const result = execute(orders, {}, { ...caller, signal: controller.signal });
    await called();
    return async () => {
      controller.abort();
      expect(await result).toMatchObject({ errors: [{}] });
    };
  },
  'that is refused': async ({ execute, respond, called }) => {
    const inFlight = execute(orders, {}, caller);
    await called();
    return async () => {
      for (const document of ['{', '{ unknown }', 'mutation { unknown }']) {
        expect(await execute(document, {}, caller)).toMatchObject({ errors: [{}] });
      }
      respond(noOrders);
      await inFlight;
    };
  },
  'of a fetch handler that cancels the body': async ({ gateway, called }) => {
    const parts = readParts(await sendForParts(gateway, 'http://gateway.test', ordersLater));
    await parts.next();
    await called();
    return () => parts.return();
  },
};

/** Resolves when the gateway uses something of a limit. */
async function expectUsed(gateway: Opened, limit: string): Promise<void> {
  await vi.waitFor(async () => expect(await gateway.used()).toHaveProperty(limit), patient);
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
  ])('%s', async (_, row) => {
    await using gateway = await open(row);
    const client = gateway.send(row.bytes).pause();
    await gateway.called(row.calls ?? 0);
    if (row.response) gateway.respond(row.response);
    if (row.received) await receive(client, row.received);
    await expectUsed(gateway, row.holds);
    await row.end(client, gateway);
    await expectUnused(gateway);
  });

  it.each(rowsOf('after a caller in the same process', local))('%s', async (_, begin) => {
    await using gateway = await open({});
    const end = await begin(gateway);
    await expectUsed(gateway, 'pets_calls');
    await end();
    await expectUnused(gateway);
  });

  it('after the body of a request of a fetch handler breaks off', async () => {
    await using gateway = await open({});
    const { promise: broken, reject } = Promise.withResolvers<never>();
    async function* bytes() {
      yield new Uint8Array(100_000);
      yield broken;
    }
    const body = Readable.toWeb(Readable.from(bytes()));
    const init = { method: 'POST', headers: caller, body, duplex: 'half' } as RequestInit;
    const response = gateway.gateway(new Request('http://gateway.test/graphql', init));
    await expectUsed(gateway, 'body_bytes');
    reject(new Error('broken'));
    await expect(response).rejects.toThrow('broken');
    await expectUnused(gateway);
  });
});

function rowsOf<Row>(when: string, rows: Record<string, Row>): [string, Row][] {
  return Object.entries(rows).map(([name, row]) => [`${when} ${name}`, row]);
}
