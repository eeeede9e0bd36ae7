import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { JsonText } from '../../src/contract/json.ts';
import type { HttpResponse } from '../../src/http/http-message.ts';
import type { KeyedCaller } from '../../src/keys/api-key.ts';
import { openBuiltin, openGateway, type TestOptions } from '../support/gateway.ts';
import { refusalsIn } from '../support/metrics.ts';
import { startHolding } from '../support/parts.ts';

const authorization = 'Bearer demo-key';

/** Opens a gateway whose store accepts every key, and holds orders until they are released. */
async function openHeld(options: TestOptions) {
  let held = Promise.withResolvers<void>();
  let calls = 0;
  const builtin = await openBuiltin();
  const petStore = {
    ...builtin,
    async listPets({ key }: KeyedCaller) {
      builtin.keys.accept(key);
      return [];
    },
    async listOrders() {
      calls++;
      await held.promise;
      return new JsonText('[]');
    },
  };
  const opened = await openGateway({ petStore, ...options });
  /** Executes a query. @returns the code of its error, if any. */
  async function send(key: string, query = '{ __typename }'): Promise<string | undefined> {
    const { errors } = await opened.execute(query, {}, { authorization: key && `Bearer ${key}` });
    return errors?.[0]?.extensions.code;
  }
  return {
    ...opened,
    send,
    /** Lets the backend accept a key. */
    accept: async (key: string) => expect(await send(key, '{ pets { id } }')).toBeUndefined(),
    /** Sends a request for orders of each key, and resolves when they are held. */
    async hold(...keys: readonly string[]) {
      const before = calls;
      const requests = keys.map((key) => send(key, '{ orders }'));
      await vi.waitFor(() => expect(calls).toBe(before + keys.length), { interval: 5 });
      return requests;
    },
    /** Responds to these requests. */
    async release(requests: readonly Promise<string | undefined>[]) {
      held.resolve();
      held = Promise.withResolvers();
      for (const code of await Promise.all(requests)) expect(code).toBeUndefined();
    },
  };
}

/** Keeps the event loop from turning, without using the CPU. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe('overload', () => {
  it('refuses new requests with 503 while those in flight finish', async () => {
    await using service = await startHolding({
      maxRequestsInFlight: 2,
      corsOrigins: ['https://shop.example'],
    });
    const send = (path: string) => fetch(`${service.url}${path}`, { headers: { authorization } });
    const orders = () => send('/v1/store/orders');
    // The backend accepts the key.
    expect((await send('/v1/pets')).status).toBe(200);
    const inFlight = [orders(), orders()];
    await service.called(2);

    const refused = await orders();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ code: 'overloaded', status: 503 });
    const headers = { origin: 'https://shop.example', 'x-request-id': 'busy-1' };
    const graphql = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body: '{}' });
    expect(graphql.status).toBe(503);
    expect(await graphql.json()).toMatchObject({
      errors: [
        {
          extensions: { code: 'OVERLOADED', status: 503, retryAfterMs: 1000, requestId: 'busy-1' },
        },
      ],
    });
    expect(graphql.headers.get('x-request-id')).toBe('busy-1');
    expect(graphql.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(graphql.headers.get('access-control-expose-headers')).toBe(
      'etag, x-request-id, retry-after, ratelimit, ratelimit-policy, idempotent-replayed',
    );
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    expect(await refusalsIn(service.metrics)).toEqual({ 'requests_in_flight 503': 2 });
    expect(service.logged.map((line) => JSON.parse(line))).toMatchObject([
      { reasons: { 'requests_in_flight 503': 1 } },
    ]);

    service.release();
    for (const response of await Promise.all(inFlight)) expect(response.status).toBe(200);
    expect((await orders()).status).toBe(200);
  });

  it('refuses requests above the limit of a key with 429, and accepts those of other keys', async () => {
    await using service = await startHolding({
      maxRequestsInFlight: 8,
      maxRequestsInFlightPerKey: 2,
    });
    const orders = (key: string) =>
      fetch(`${service.url}/graphql?query={orders}`, {
        headers: { authorization: `Bearer ${key}` },
      });
    const inFlight = [orders('greedy'), orders('greedy')];
    await service.called(2);
    const refused = await orders('greedy');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toEqual({
      errors: [
        {
          message: 'Too many requests with this API key are in flight. Try again in one second.',
          extensions: {
            code: 'RATE_LIMITED',
            status: 429,
            retryAfterMs: 1000,
            outcome: 'NOT_DONE',
            requestId: expect.any(String),
          },
        },
      ],
    });
    const authorization = 'Bearer greedy';
    expect(await service.execute('{ orders }', {}, { authorization })).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED' } }],
    });
    expect(await refusalsIn(service.metrics)).toEqual({ 'requests_of_key 429': 2 });
    expect(service.logged.map((line) => JSON.parse(line))).toMatchObject([
      { reasons: { 'requests_of_key 429': 1 } },
    ]);
    const other = orders('modest');
    await service.called(3);
    service.release();
    for (const response of await Promise.all([...inFlight, other])) {
      expect(response.status).toBe(200);
    }
    expect((await orders('greedy')).status).toBe(200);
  });

  it('refuses a key at its limit with 429 while the gateway is full', async () => {
    await using opened = await openHeld({ maxRequestsInFlight: 2, maxRequestsInFlightPerKey: 2 });
    await opened.accept('greedy');
    const held = await opened.hold('greedy', 'greedy');
    expect(await opened.send('greedy')).toBe('RATE_LIMITED');
    expect(await opened.send('modest')).toBe('OVERLOADED');
    await opened.release(held);
  });

  it('keeps half of the places for keys that the backend has accepted before', async () => {
    await using opened = await openHeld({ maxRequestsInFlight: 5 });
    await opened.accept('known');
    const unknown = await opened.hold('1', '2', '3');
    for (const key of ['', '3', '4']) expect(await opened.send(key)).toBe('OVERLOADED');
    const known = await opened.hold('known', 'known');
    expect(await opened.send('known')).toBe('OVERLOADED');
    await opened.release([...unknown, ...known]);
    // Accepted keys may use all places.
    const all = await opened.hold(...Array(5).fill('known'));
    expect(await opened.send('')).toBe('OVERLOADED');
    await opened.release(all);
    for (const key of ['', '3', '4']) expect(await opened.send(key)).toBeUndefined();
  });

  it.each([
    ['succeeds at /graphql', '/graphql?query={pets{id}}', 'demo-key', 200],
    ['is not found at /graphql', '/graphql?query={pet(id:404404){id}}', 'demo-key', 200],
    ['succeeds at /v1', '/v1/pets', 'demo-key', 200],
    ['is not found at /v1', '/v1/pets/404404', 'demo-key', 200],
    ['is refused for its key at /graphql', '/graphql?query={pets{id}}', 'wrong', 503],
    ['is refused for its key at /v1', '/v1/pets', 'wrong', 503],
    ['is refused before its key is needed', '/v1/pets?limit=0', 'demo-key', 503],
    ['needs no key', '/graphql?query={__typename}', 'demo-key', 503],
  ])('keeps places for a key or not, after a request that %s', async (_, path, key, status) => {
    await using service = await startHolding({ maxRequestsInFlight: 2 });
    const send = (sent: string, sender: string) =>
      service.gateway(
        new Request(`http://gateway.test${sent}`, {
          headers: { authorization: `Bearer ${sender}` },
        }),
      );
    await (await send(path, key)).text();
    const unknown = send('/graphql?query={orders}', 'unknown');
    await service.called(1);
    expect((await send('/graphql?query={__typename}', key)).status).toBe(status);
    service.release();
    expect((await unknown).status).toBe(200);
  });

  it('counts the requests without a key as those of one key, until they end', async () => {
    const held = Promise.withResolvers<HttpResponse>();
    const createV1 = () => Object.assign(() => held.promise, { paths: /^\/v1\//, methods: [] });
    await using opened = await openGateway({ maxRequestsInFlightPerKey: 2, createV1 });
    const send = (path: string, headers = {}) =>
      opened.gateway(new Request(`http://gateway.test${path}`, { headers }));
    const inFlight = [send('/v1/pets'), send('/v1/pets')];
    await turn();
    const operation = '/graphql?query={__typename}';
    expect((await send(operation)).status).toBe(429);
    expect((await send(operation, { authorization })).status).toBe(200);
    held.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body: '[]' });
    await Promise.all(inFlight);
    expect((await send(operation)).status).toBe(200);
  });

  // The second is longer than the interval over which the lag is averaged.
  it.each([
    [150, 20],
    [400, 10],
  ])('refuses requests only while turns take %i ms, first those of unknown keys', async (milliseconds, turns) => {
    await using opened = await openHeld({ maxEventLoopLagMs: 100 });
    await opened.accept('known');
    const held = await opened.hold('known');
    const samples: Promise<(string | undefined)[]>[] = [];
    await new Promise<void>((resolve) => {
      const blocking = setInterval(() => {
        block(milliseconds);
        samples.push(Promise.all([opened.send('unknown'), opened.send('known')]));
        if (samples.length < turns) return;
        clearInterval(blocking);
        resolve();
      }, 1);
    });
    const codes = (await Promise.all(samples)).map((pair) => pair.join(' '));
    expect([...new Set(codes)]).toEqual([' ', 'OVERLOADED ', 'OVERLOADED OVERLOADED']);
    const admitted = async () => expect(await opened.send('unknown')).toBeUndefined();
    await vi.waitFor(admitted);
    await opened.release(held);
  });

  it('refuses no requests if the event loop has lagged only before the first', async () => {
    await using opened = await openHeld({ maxEventLoopLagMs: 50 });
    for (let count = 0; count < 6; count++) {
      block(300);
      await turn();
    }
    expect(await opened.send('unknown')).toBeUndefined();
  });

  it('refuses no requests after one long pause', async () => {
    await using opened = await openHeld({ maxEventLoopLagMs: 1000 });
    const held = await opened.hold('known');
    const sendFor = async (milliseconds: number) => {
      for (const end = performance.now() + milliseconds; performance.now() < end; await turn()) {
        expect(await opened.send('unknown')).toBeUndefined();
      }
    };
    // The first measurement is not recorded.
    await sendFor(30);
    block(1500);
    await sendFor(300);
    await opened.release(held);
  });
});
