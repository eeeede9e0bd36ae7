import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { maxBodyBytes } from '../../src/http/body.ts';
import { keyOf } from '../../src/limits/key.ts';
import { type OverloadLimits, openOverloadGuard } from '../../src/server/overload.ts';
import { openGateway, startGateway } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { refusalsIn } from '../support/metrics.ts';
import { startHolding } from '../support/parts.ts';

const authorization = 'Bearer demo-key';

/** Opens a guard, with limits that no test reaches unless it sets them. */
function openGuard(limits: Partial<OverloadLimits>) {
  const guard = openOverloadGuard(
    {
      maxRequestsInFlight: 1000,
      maxRequestsInFlightPerKey: 1000,
      maxEventLoopLagMs: 10_000,
      ...limits,
    },
    quiet.metrics,
  );
  /** Admits a request, and returns what ends it. */
  function enter(key: number, keyAccepted = false) {
    using scope = new DisposableStack();
    guard.admit({ key, headers: {} }, { keyAccepted }, scope);
    const admitted = scope.move();
    return () => admitted.dispose();
  }
  return {
    enter,
    /** Lets the backend accept a key. */
    accept: (key: number) => enter(key, true)(),
    [Symbol.dispose]: () => guard[Symbol.dispose](),
  };
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
    expect(graphql.headers.get('access-control-expose-headers')).toContain('retry-after');
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

  it('refuses a key at its limit with 429 while the gateway is full', () => {
    using guard = openGuard({ maxRequestsInFlight: 2, maxRequestsInFlightPerKey: 2 });
    const [greedy, modest] = [1, 2];
    guard.accept(greedy);
    for (let times = 0; times < 2; times++) guard.enter(greedy);
    expect(() => guard.enter(greedy)).toThrow('with this API key');
    expect(() => guard.enter(modest)).toThrow('The gateway is overloaded');
  });

  it('keeps half of the places for keys that the backend has accepted before', () => {
    using guard = openGuard({ maxRequestsInFlight: 5 });
    const [accepted, keyless] = [1, 0];
    guard.accept(accepted);
    const full = expect.objectContaining({ reason: 'requests_in_flight', status: 503 });
    const unknown = [keyless, 2, 3].map((key) => guard.enter(key));
    for (const key of [keyless, 2, 4]) expect(() => guard.enter(key)).toThrow(full);
    const known = [guard.enter(accepted), guard.enter(accepted)];
    expect(() => guard.enter(accepted)).toThrow(full);
    for (const leave of unknown) leave();
    // Accepted keys may use all places.
    for (const _ of unknown) known.push(guard.enter(accepted));
    expect(() => guard.enter(keyless)).toThrow(full);
    for (const leave of known) leave();
    for (const key of [keyless, 2, 4]) guard.enter(key);
  });

  it('remembers 10,000 accepted keys, and always the latest 5,000', () => {
    using guard = openGuard({ maxRequestsInFlight: 2 });
    for (let key = 1; key <= 10_001; key++) guard.accept(key);
    // Used again, so it counts as the latest.
    guard.accept(5001);
    for (let key = 10_002; key <= 15_000; key++) guard.accept(key);
    guard.enter(0);
    expect(() => guard.enter(5002)).toThrow('The gateway is overloaded');
    guard.enter(5001);
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
      fetch(`${service.url}${sent}`, { headers: { authorization: `Bearer ${sender}` } });
    await send(path, key);
    const unknown = send('/graphql?query={orders}', 'unknown');
    await service.called(1);
    expect((await send('/graphql?query={__typename}', key)).status).toBe(status);
    service.release();
    expect((await unknown).status).toBe(200);
  });

  it('counts each request that is refused for the bodies of its key once', async () => {
    await using service = await startGateway();
    // What a key may hold.
    service.byteLimits.bodyBytes.take(keyOf(authorization), 8 * 1024 * 1024);
    const body = JSON.stringify({ query: '{ orders }' }).padEnd(maxBodyBytes);
    const send = (path: string, type = 'application/json') => {
      const headers = { authorization, 'content-type': type };
      return fetch(`${service.url}${path}`, { method: 'POST', headers, body });
    };
    for (const path of ['/graphql', '/v1/pets', '/quickstart/messages']) {
      const refused = await send(path);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await refused.text()).toContain('bodies');
    }
    // Responses with another reason are not refusals due to load.
    expect((await send('/nowhere')).status).toBe(404);
    expect((await send('/graphql', 'text/plain')).status).toBe(415);
    expect(await refusalsIn(service.metrics)).toEqual({ 'body_bytes_of_key 429': 3 });
  });

  it('counts no request that it refuses for another reason', async () => {
    await using service = await startGateway();
    const headers = { authorization, 'content-type': 'application/json' };
    const send = async (path: string, body: string) =>
      (await fetch(`${service.url}${path}`, { method: 'POST', headers, body })).status;
    const large = ' '.repeat(maxBodyBytes + 1);
    for (const path of ['/graphql', '/v1/pets']) {
      expect([await send(path, large), await send(path, '{')]).toEqual([413, 400]);
    }
    expect(await send('/nowhere', '')).toBe(404);
    expect(await refusalsIn(service.metrics)).toEqual({});
    expect(service.logged).toEqual([]);
  });

  it('counts the requests without a key as those of one key, until they end', () => {
    using guard = openGuard({ maxRequestsInFlight: 10, maxRequestsInFlightPerKey: 2 });
    const keyless = 0;
    for (let round = 0; round < 3; round++) {
      const entered = [guard.enter(keyless), guard.enter(keyless)];
      expect(() => guard.enter(keyless)).toThrow('Too many requests');
      entered.push(guard.enter(1));
      for (const leave of entered) leave();
    }
  });

  it('sends the time to the next attempt to callers in the same process', async () => {
    const refusals = [
      [{ maxRequestsInFlight: 0 }, { code: 'OVERLOADED', status: 503, retryAfterMs: 1000 }],
      [{ maxRequestsInFlightPerKey: 0 }, { code: 'RATE_LIMITED', status: 429, retryAfterMs: 1000 }],
    ] as const;
    for (const [limits, extensions] of refusals) {
      await using service = await openGateway(limits);
      expect(await service.execute('{ __typename }')).toMatchObject({ errors: [{ extensions }] });
      const { value } = await service.executeIncrementally('{ __typename }').next();
      expect(value).toMatchObject({ errors: [{ extensions }], hasNext: false });
    }
  });

  // The second is longer than the interval over which the lag is averaged.
  it.each([
    100, 300,
  ])('refuses requests only while turns take %i ms, first those of unknown keys', async (milliseconds) => {
    using guard = openGuard({ maxEventLoopLagMs: 50 });
    const [accepted, unknown] = [1, 2];
    guard.accept(accepted);
    guard.enter(unknown);
    const block = setInterval(() => {
      const until = performance.now() + milliseconds;
      while (performance.now() < until);
    }, 1);
    const lag = expect.objectContaining({ reason: 'event_loop_lag', status: 503 });
    const often = { interval: 50, timeout: 5000 };
    await vi.waitFor(() => expect(() => guard.enter(unknown)).toThrow(lag), often);
    guard.enter(accepted);
    await vi.waitFor(() => expect(() => guard.enter(accepted)).toThrow(lag), often);
    clearInterval(block);
    await vi.waitFor(() => guard.enter(unknown), often);
    guard.enter(accepted);
  });

  it('refuses no requests if the event loop has lagged only before the first', async () => {
    using guard = openGuard({ maxEventLoopLagMs: 50 });
    for (let count = 0; count < 6; count++) {
      const until = performance.now() + 300;
      while (performance.now() < until);
      await turn();
    }
    guard.enter(2);
  });

  it('refuses no requests after one long pause', async () => {
    using guard = openGuard({ maxEventLoopLagMs: 50 });
    const enterFor = async (milliseconds: number) => {
      for (const end = performance.now() + milliseconds; performance.now() < end; await turn()) {
        guard.enter(0)();
      }
    };
    // The first measurement is not recorded.
    await enterFor(30);
    for (const end = performance.now() + 600; performance.now() < end; );
    await enterFor(300);
  });
});
