import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { BackendTimeoutError, ErrorResponse } from '../../src/contract/error.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import {
  holdingOrders,
  petsFirst,
  readParts,
  sendForParts,
  startHolding,
} from '../support/parts.ts';
import { rawGet, sendRaw } from '../support/raw-http.ts';

type Part = ReturnType<typeof readParts> extends AsyncGenerator<infer T> ? T : never;

/** The orders of the demo. One id is above 2^53. */
const orders = expect.arrayContaining([expect.objectContaining({ id: 9007199254740993n })]);

/** Handles a request for parts without a socket. */
function handleHeld({ open, handle }: Awaited<ReturnType<typeof startHolding>>) {
  const headers = { authorization: 'Bearer demo-key', accept: 'multipart/mixed' };
  const search = new URLSearchParams({ query: petsFirst }).toString();
  return handle(open({ method: 'GET', path: '/graphql', search, headers }));
}

describe('a deferred fragment', () => {
  it.each([
    ['multipart/mixed;incrementalSpec=v0.2', 'multipart/mixed; boundary="-"; incrementalSpec=v0.2'],
    ['text/event-stream', 'text/event-stream; charset=utf-8'],
  ])('arrives after the rest, as %s', async (accept, contentType) => {
    await using service = await startHolding();
    const response = await service.send(petsFirst, accept);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(contentType);
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    const parts = readParts(response);
    expect((await parts.next()).value).toEqual({
      data: { pets: [{ id: '1' }] },
      pending: [{ id: '0', path: [], label: 'later' }],
      hasNext: true,
    });
    service.release();
    expect((await parts.next()).value).toEqual({
      incremental: [{ id: '0', data: { orders } }],
      completed: [{ id: '0' }],
      hasNext: false,
    });
    expect((await parts.next()).done).toBe(true);
  });

  it.each([
    'multipart/mixed;deferSpec=20220824,application/json;q=0.9',
    'multipart/mixed',
  ])('is identified by its path in the format of August 2022, for %s', async (accept) => {
    await using service = await startHolding();
    const response = await service.send(petsFirst, accept);
    expect(response.headers.get('content-type')).toMatch(/deferSpec=20220824$/);
    const parts = readParts(response);
    expect((await parts.next()).value).toEqual({ data: { pets: [{ id: '1' }] }, hasNext: true });
    service.release();
    expect((await parts.next()).value).toEqual({
      incremental: [{ data: { orders }, path: [], label: 'later' }],
      hasNext: false,
    });
    expect((await parts.next()).done).toBe(true);
  });

  it('can be below the root', async () => {
    await using service = await startHolding();
    const query = '{ pets(limit: 2) { id ...Rest @defer } } fragment Rest on Pet { name }';
    const all = await Array.fromAsync(readParts(await service.send(query)));
    expect(all[0]).toMatchObject({
      data: { pets: [{ id: '1' }, { id: '2' }] },
      pending: [{ path: ['pets', 0] }, { path: ['pets', 1] }],
    });
    const names = all.flatMap(({ incremental = [] }) => incremental.map(({ data }) => data));
    expect(names).toEqual([{ name: 'Biscuit' }, { name: 'Marmalade' }]);
  });

  it('arrives in response to a GET, as EventSource sends it', async () => {
    await using service = await startHolding();
    service.release();
    const query = new URLSearchParams({ query: petsFirst });
    const response = await fetch(`${service.url}/graphql?${query}`, {
      headers: { authorization: 'Bearer demo-key', accept: 'text/event-stream' },
    });
    expect(await response.text()).toMatch(/^event: next\ndata: \{.+event: complete\ndata:\n\n$/s);
  });

  it('arrives with the rest for a client that accepts JSON, and if its condition is false', async () => {
    await using service = await startHolding();
    service.release();
    const off = '{ pets(limit: 1) { id } ... @defer(if: false) { orders } }';
    const plain = await (
      await service.send('{ pets(limit: 1) { id } orders }', 'application/json')
    ).text();
    for (const [query, accept] of [
      [petsFirst, 'application/json'],
      [off, 'multipart/mixed, application/json'],
    ]) {
      const response = await service.send(query, accept);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.text()).toBe(plain);
    }
  });

  it('arrives with the rest over HTTP/1.0', async () => {
    await using service = await startHolding();
    service.release();
    const path = `/graphql?query=${encodeURIComponent(petsFirst)}`;
    const headers = 'Authorization: Bearer demo-key\r\nAccept: multipart/mixed\r\n';
    const request = rawGet(path, headers).replace('HTTP/1.1', 'HTTP/1.0');
    const response = await sendRaw(service.url, request);
    expect(response).toContain('content-length: ');
    expect(response).toMatch(/content-type: multipart.+"pets":.+"orders":.+-----/s);
  });

  it('is rejected at the root of a mutation', async () => {
    await using service = await startHolding();
    const query = 'mutation { ... @defer { sendMessage(message: "x") { id } } }';
    expect(await (await service.send(query)).text()).toContain('GRAPHQL_VALIDATION_FAILED');
  });

  it('has its own typed errors, and masks unexpected ones', async () => {
    const petStore = await openBuiltin();
    const reasons = [
      new ErrorResponse(503, 'The pet store responded with 503.'),
      new BackendTimeoutError('The pet store did not respond in time.'),
      new TypeError('a secret'),
    ];
    await using service = await startGateway({
      petStore: { ...petStore, listOrders: () => Promise.reject(reasons.shift()) },
    });
    const codes = [];
    for (const accept of ['multipart/mixed', 'multipart/mixed;deferSpec=20220824', undefined]) {
      const response = await sendForParts(fetch, service.url, petsFirst, accept);
      const requestId = response.headers.get('x-request-id');
      const [first, last] = await Array.fromAsync(readParts(response));
      expect(first?.errors).toBeUndefined();
      const [part] = last?.incremental ?? [];
      expect(part?.data).toEqual({ orders: null });
      expect(part?.errors).toMatchObject([{ path: ['orders'], extensions: { requestId } }]);
      expect(JSON.stringify(part)).not.toContain('secret');
      codes.push(part?.errors?.[0]?.extensions['code']);
    }
    expect(codes).toEqual(['UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT', 'INTERNAL_SERVER_ERROR']);
    expect(service.logged.join('')).toContain('a secret');
  });

  it('lists deprecations in the first part only', async () => {
    await using service = await startHolding();
    service.release();
    const response = await service.send('{ pet(id: 1) { id } ... @defer { orders } }');
    expect(response.headers.get('sunset')).toBeNull();
    const [first, last] = await Array.fromAsync(readParts(response));
    expect(first?.extensions).toMatchObject({ deprecations: [{ field: 'Query.pet' }] });
    expect(last?.extensions).toBeUndefined();
  });
});

describe('a response in parts', () => {
  it('is logged after the last part, with the time to the first', async () => {
    await using service = await startHolding();
    const parts = readParts(await service.send());
    await parts.next();
    expect(service.requests()).toEqual([]);
    service.release();
    expect(await Array.fromAsync(parts)).toHaveLength(1);
    await vi.waitFor(() => expect(service.requests()).toHaveLength(1));
    const [{ ms, firstPartMs, codes, status }] = service.requests();
    expect([codes, status]).toEqual([[], 200]);
    expect(firstPartMs).toBeLessThanOrEqual(ms);
    const { text } = await service.metrics.scrape();
    expect(text).toMatch(/petstore_graphql_first_part_duration_seconds_count\{.*\} 1\n/);
    expect(text).toMatch(/petstore_graphql_request_duration_seconds_count\{.*success.*\} 1\n/);
  });

  it('is cancelled with its calls when the client disconnects, and frees its slot', async () => {
    await using service = await startHolding({ maxRequestsInFlight: 1 });
    const client = new AbortController();
    const parts = readParts(await service.send(petsFirst, 'multipart/mixed', client.signal));
    await parts.next();
    expect(service.calls()).toBe(1);
    client.abort();
    await vi.waitFor(() => expect(service.cancelled()).toBe(1));
    await vi.waitFor(() => expect(service.requests()).toMatchObject([{ codes: ['CANCELLED'] }]));
    expect((await service.send('{ __typename }', 'application/json')).status).toBe(200);
  });

  it('is completed by a gateway that shuts down', async () => {
    await using service = await startHolding();
    const parts = readParts(await service.send());
    await parts.next();
    const closed = service.close(10_000);
    service.release();
    expect((await parts.next()).value).toMatchObject({ completed: [{ id: '0' }], hasNext: false });
    await parts.next();
    await closed;
  });

  it('gets its last part within the grace period of a gateway that shuts down', async () => {
    await using service = await startHolding();
    const parts = readParts(await service.send());
    await parts.next();
    const closed = service.close(2000);
    const { value } = await parts.next();
    const code = 'UPSTREAM_TIMEOUT';
    expect(value).toMatchObject({
      incremental: [{ data: { orders: null }, errors: [{ extensions: { code } }] }],
      completed: [{ id: '0' }],
      hasNext: false,
    });
    expect((await parts.next()).done).toBe(true);
    await closed;
  });

  it('keeps its last part for a client that reads it after the shutdown began', async () => {
    await using service = await startHolding();
    const { parts } = await handleHeld(service);
    await parts?.next();
    parts?.end();
    await vi.waitFor(() => expect(service.cancelled()).toBe(1));
    for (let turns = 0; turns < 20; turns++) await turn();
    expect((await parts?.next())?.value).toContain('UPSTREAM_TIMEOUT');
    expect((await parts?.next())?.done).toBe(true);
  });

  it('is cancelled by a stream that is destroyed, which is no unexpected error', async () => {
    await using service = await startHolding();
    const stream = Readable.from((await handleHeld(service)).parts ?? []);
    const failed = once(stream.resume(), 'error');
    await service.called(1);
    const left = new Error('Premature close');
    stream.destroy(left);
    await vi.waitFor(() => expect(service.requests()).toMatchObject([{ codes: ['CANCELLED'] }]));
    expect(await failed).toEqual([left]);
    expect(service.logged).toEqual([]);
  });

  it('reports the excess for the fragments that are pending, not for those that are complete', async () => {
    const petStore = await openBuiltin();
    const { promise: isFirstRead, resolve } = Promise.withResolvers<void>();
    const page = [{ id: '1', name: 'x'.repeat(3_000_000), categoryId: '1' }];
    const listPets = () => isFirstRead.then(() => page);
    await using service = await startGateway({ petStore: { ...petStore, listPets } });
    const query =
      '{ __typename ... @defer { orders } ... @defer { pets { a: name b: name c: name } } }';
    const parts: Part[] = [];
    for await (const part of readParts(await sendForParts(fetch, service.url, query))) {
      parts.push(part);
      if (part.completed?.length === 1) resolve();
    }
    const [first, second, last] = parts;
    const [complete] = second?.completed ?? [];
    const pending = first?.pending?.filter(({ id }) => id !== complete?.id);
    expect(last?.completed?.map(({ id }) => id)).toEqual(pending?.map(({ id }) => id));
    expect(last?.completed).toMatchObject([
      { errors: [{ extensions: { code: 'RESPONSE_TOO_LARGE' } }] },
    ]);
  });

  it('ends with its first part if that is too large', async () => {
    const { petStore } = holdingOrders(await openBuiltin());
    const page = [{ id: '1', name: 'x'.repeat(3_000_000), categoryId: '1' }];
    await using service = await startGateway({
      petStore: { ...petStore, listPets: async () => page },
    });
    const query = '{ pets { a: name b: name c: name } ... @defer { orders } }';
    const response = await sendForParts(fetch, service.url, query);
    const parts = await Array.fromAsync(readParts(response));
    expect(parts).toMatchObject([{ data: { pets: null }, hasNext: false }]);
    const codes = parts[0]?.errors?.map(({ extensions }) => extensions['code']);
    expect(codes).toEqual(['RESPONSE_TOO_LARGE', 'RESPONSE_TOO_LARGE']);
  });
});
