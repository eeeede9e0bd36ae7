import type { ServerResponse } from 'node:http';
import { ReadableStream } from 'node:stream/web';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RequestHead } from '../../src/http/http-message.ts';
import { applyHeaders } from '../../src/request/headers.ts';
import type { Scope } from '../../src/request/scope.ts';
import { callWith, startGateway } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL, withKey } from '../support/graphql.ts';
import { readParts, startHolding } from '../support/parts.ts';
import { openMountable, startRestGateway } from '../support/rest-gateway.ts';
import { sendJson } from '../support/upstream.ts';

const addTwo = `mutation {
  first: addPet(input: { name: "Rex", categoryId: 1 }) { id }
  second: addPet(input: { name: "Max", categoryId: 1 }) { id }
}`;

async function send(url: string, query: string, timeout: string, more?: object) {
  const headers = { ...withKey, 'x-petstore-timeout-ms': timeout, ...more };
  const response = await fetch(graphqlRequest(url, { query }, headers));
  return { status: response.status, ...(await response.json()) };
}

describe('x-petstore-timeout-ms', () => {
  it('ends the calls that are late, and returns the other fields', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await using gateway = await startRestGateway(({ url }, response) => {
      if (url === '/v1/pets') sendJson(response, 200, '[]');
      else response.on('close', end);
    });
    const later = vi.fn();
    void send(gateway.url, '{ pet(id: 1) { id } }', '9000').then(later, later);
    expect(await send(gateway.url, '{ pets { id } orders }', '2000')).toEqual({
      status: 200,
      data: { pets: [], orders: null },
      errors: [
        expect.objectContaining({
          path: ['orders'],
          extensions: { code: 'UPSTREAM_TIMEOUT', requestId: expect.any(String) },
        }),
      ],
    });
    expect(later).not.toHaveBeenCalled();
    await ended;
    expect(gateway.requests()).toMatchObject([{ codes: ['UPSTREAM_TIMEOUT'] }]);
  });

  it('does not interrupt a write that was sent, which is shown in flight, and sends no other', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>();
    await using opened = await openMountable((_, response) => arrive(response));
    const { gateway, upstream } = opened;
    const headers = { ...withKey, 'x-petstore-timeout-ms': '2000', 'x-petstore-explain': '1' };
    const { data, errors, extensions } = await postGraphQL(gateway, addTwo, {}, headers);
    expect(data).toEqual({ first: null, second: null });
    expect(errors).toMatchObject([
      { path: ['first'], extensions: { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN' } },
      { path: ['second'], extensions: { code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_DONE' } },
    ]);
    expect(extensions).toMatchObject({ calls: [{ path: ['first'], status: null }] });
    const [{ calls }] = opened.requests();
    expect(calls).toMatchObject([{ operation: 'createPet', status: 'inFlight' }]);
    expect(calls[0].ms).toBeGreaterThan(0);
    const response = await arrived;
    expect(response.destroyed).toBe(false);
    sendJson(response, 201, '{"id":1,"name":"Rex","categoryId":1}');
    await vi.waitFor(async () =>
      expect(await gateway.metrics()).toContain(
        'petstore_rest_call_duration_seconds_count{operation="createPet",status="201"} 1',
      ),
    );
    expect(upstream.seen).toHaveLength(1);
  });

  it('delivers the fragments that are late as the last part', async () => {
    await using service = await startHolding();
    const headers = { ...withKey, accept: 'multipart/mixed', 'x-petstore-timeout-ms': '2000' };
    const query = '{ pets(limit: 1) { id } ... @defer { orders } }';
    const response = await fetch(graphqlRequest(service.url, { query }, headers));
    const [first, last] = await Array.fromAsync(readParts(response));
    expect(first).toMatchObject({ data: { pets: [{ id: '1' }] }, hasNext: true });
    expect(last).toMatchObject({
      incremental: [{ errors: [{ extensions: { code: 'UPSTREAM_TIMEOUT' } }] }],
      hasNext: false,
    });
  });

  it('sends no call of a request whose deadline passes before its body arrives', async () => {
    await using opened = await openMountable((_, response) => sendJson(response, 201, '{}'));
    const { gateway, upstream } = opened;
    const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>();
    const body = async function* () {
      await arrives;
      yield Buffer.from(JSON.stringify({ query: addTwo }));
    };
    const headers = {
      ...withKey,
      'content-type': 'application/json',
      'x-petstore-timeout-ms': '1',
    };
    const init = { method: 'POST', headers, body: ReadableStream.from(body()), duplex: 'half' };
    const late = gateway(
      new Request('http://gateway.test/graphql', init as unknown as RequestInit),
    );
    const start = performance.now();
    await vi.waitFor(() => expect(performance.now() - start).toBeGreaterThan(2));
    arrive();
    const { errors } = (await (await late).json()) as { errors: object[] };
    const extensions = { code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_DONE' };
    expect(errors).toMatchObject([{ extensions }, { extensions }]);
    expect(upstream.seen).toEqual([]);
  });

  it('returns the error of a service that asks for a longer pause than is left, without a retry', async () => {
    await using gateway = await startRestGateway((_, response) => {
      response.setHeader('retry-after', '8');
      sendJson(response, 503, '{"code":"busy","message":"Busy.","status":503}');
    });
    const { errors } = await send(gateway.url, '{ pets { id } }', '6000');
    // That of a call that has waited until its deadline would be UPSTREAM_TIMEOUT.
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_ERROR', retryAfterMs: 8000 } }]);
    expect(gateway.upstream.seen).toHaveLength(1);
  });

  it('lets a request end whose client leaves after its deadline', async () => {
    const opened = await openMountable(({ url }, response) => {
      if (!url.includes('limit=1')) sendJson(response, 200, '[]');
    });
    const controller = new AbortController();
    const { signal } = controller;
    const query = '{ ... @defer { a: pets(limit: 1) { id } } b: pets { id } }';
    const headers = { ...withKey, accept: 'multipart/mixed', 'x-petstore-timeout-ms': '50' };
    const request = graphqlRequest('http://gateway.test', { query }, headers);
    const response = await opened.gateway(new Request(request, { signal }));
    const start = performance.now();
    await vi.waitFor(() => expect(performance.now() - start).toBeGreaterThan(100));
    controller.abort();
    // It waits for the requests in flight.
    await opened[Symbol.asyncDispose]();
    expect(response.status).toBe(200);
  });

  it('leaves no timer behind, which would keep the request and its process alive', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const record = callWith();
    record.setDeadline(10_000);
    expect(vi.getTimerCount()).toBe(1);
    record.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('applies to the demo', async () => {
    await using demo = await startGateway();
    const slow = { authorization: 'Bearer demo-slow' };
    const { errors } = await send(demo.url, '{ pets { id } }', '100', slow);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_TIMEOUT' } }]);
    expect(await send(demo.url, '{ pets(limit: 1) { id } }', '10000')).toMatchObject({
      data: { pets: [{ id: '1' }] },
    });
  });

  it.each([
    '0',
    '',
    '1.5',
    '-1',
    '1e3',
    '0x10',
    '500, 500',
    'soon',
  ])('is refused as %j', async (value) => {
    await using gateway = await startGateway();
    const { status, errors } = await send(gateway.url, '{ pets { id } }', value);
    expect(status).toBe(400);
    const message = `x-petstore-timeout-ms: expected a whole number from 1, received ${JSON.stringify(value)}.`;
    expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_REQUEST' } }]);
  });

  it.each(['100', '10001', '9'.repeat(400)])('is at most UPSTREAM_TIMEOUT_MS: %s', (value) => {
    const scope = { setDeadline: vi.fn() };
    const head = { method: 'POST', headers: { 'x-petstore-timeout-ms': value } };
    const options = { forwardHeaders: undefined, maxTimeoutMs: 10_000 };
    applyHeaders(scope as unknown as Scope, head as unknown as RequestHead, options);
    expect(scope.setDeadline).toHaveBeenCalledWith(Math.min(Number(value), 10_000));
  });
});

describe('timeoutMs of execute', () => {
  it('ends the calls that are late', async () => {
    const env = { UPSTREAM_TIMEOUT_MS: '600000' };
    await using opened = await openMountable(({ url }, response) => {
      if (url.startsWith('/v1/pets')) sendJson(response, 200, '[]');
      // Without headers, a call ends earlier by itself.
      else response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    }, env);
    const execute = (timeoutMs: number) =>
      opened.gateway.execute('{ pets { id } orders }', {}, { ...withKey, timeoutMs });
    expect(await execute(2000)).toMatchObject({
      data: { pets: [], orders: null },
      errors: [{ path: ['orders'], extensions: { code: 'UPSTREAM_TIMEOUT' } }],
    });
  });
});
