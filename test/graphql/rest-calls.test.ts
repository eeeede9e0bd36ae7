import { describe, expect, it } from 'vitest';
import { coalesceReads } from '../../src/backends/open.ts';
import { InvalidInputError } from '../../src/contract/error.ts';
import type { PetStore } from '../../src/contract/pet-store.ts';
import { createContext } from '../../src/graphql/context.ts';
import { createExplainedContext } from '../../src/graphql/explained-context.ts';
import { keyOf } from '../../src/limits/key.ts';
import { RequestRecord } from '../../src/telemetry/request-record.ts';
import { openBuiltin } from '../support/gateway.ts';
import { httpRequest } from '../support/http-request.ts';
import { openTelemetry } from '../support/log.ts';
import { valuesOf } from '../support/metrics.ts';
import { openRest } from '../support/rest-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

/** A new request with this key. */
function requestTo(petStore: PetStore, apiKey = 'a-key-of-a-test') {
  const authorization = `Bearer ${apiKey}`;
  const { signal } = new AbortController();
  return { petStore, authorization, key: keyOf(authorization), requestId: 'test', signal };
}

/** The calls of a new request with this key. */
const callsOf = (petStore: PetStore, apiKey?: string) =>
  createContext(requestTo(petStore, apiKey)).petStore.rest;

/** Opens the REST backend for a service that responds with this text. */
async function open(body: string, status = 200) {
  const upstream = await startUpstream((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  const telemetry = openTelemetry();
  const petStore = openRest(upstream.url, {}, telemetry);
  return {
    ...telemetry,
    seen: upstream.seen,
    petStore: coalesceReads(petStore, telemetry.metrics),
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('a call to another path', () => {
  it('sends the key to the base URL and encodes its parameters', async () => {
    await using rest = await open('{"name":"dogs"}');
    const calls = callsOf(rest.petStore);
    const parameters = { id: 'a/b ?#é', lang: 'en&x', page: 9_007_199_254_740_993n, no: undefined };
    expect(await calls.get('/categories/{id}', parameters)).toEqual({ name: 'dogs' });
    expect(await calls.get('/categories?all=1', { lang: 'en' })).toEqual({ name: 'dogs' });
    expect(rest.seen.map(({ url }) => url)).toEqual([
      '/v1/categories/a%2Fb%20%3F%23%C3%A9?lang=en%26x&page=9007199254740993',
      '/v1/categories?all=1&lang=en',
    ]);
    expect(rest.seen[0]?.headers.authorization).toBe('Bearer a-key-of-a-test');
  });

  it('can be made by a request that asks for its calls', async () => {
    await using rest = await open('{"name":"dogs"}');
    using record = new RequestRecord(rest, httpRequest('/graphql'));
    const { context } = createExplainedContext(requestTo(rest.petStore), record);
    expect(await context.petStore.rest.get('/categories/1')).toEqual({ name: 'dogs' });
  });

  it.each([
    'https://other.example/categories',
    '//other.example/categories',
    'categories',
    '@other.example',
    '',
    '/../admin',
    '/categories/../../admin',
    '/categories/%2e%2E/admin',
    '/categories/..%2fadmin',
    '/categories/.',
    '/categories\\..\\admin',
    '/categories/..;/admin',
    '/categories/.%2e%3Ba/admin',
    '/categories#part',
    '/categories with space',
    '/categories\r\nX-Header: 1',
  ])('is refused unless its path is below the base URL: %j', async (path) => {
    await using rest = await open('{}');
    await expect(callsOf(rest.petStore).get(path)).rejects.toThrow(
      'Expected a path below the base URL, and no empty parameters.',
    );
    await expect(callsOf(rest.petStore).post(path, {})).rejects.toThrow(InvalidInputError);
    expect(rest.seen).toEqual([]);
  });

  it.each([
    '..',
    '.',
    '',
    undefined,
    '../admin',
    'a/../../b',
    '..\\admin',
  ])('is refused with the parameter %j', async (id) => {
    await using rest = await open('{}');
    await expect(callsOf(rest.petStore).get('/categories/{id}', { id })).rejects.toThrow(
      InvalidInputError,
    );
    const query = callsOf(rest.petStore).get('/categories?id={id}', { id });
    if (id) await query;
    else await expect(query).rejects.toThrow(InvalidInputError);
    expect(rest.seen.map(({ url }) => url)).toEqual(
      id ? [`/v1/categories?id=${encodeURIComponent(id)}`] : [],
    );
  });

  it('keeps the digits of integers in both directions', async () => {
    await using rest = await open('{"id":9007199254740993,"count":3}', 201);
    const calls = callsOf(rest.petStore);
    const body = { petId: 9_223_372_036_854_775_807n };
    expect(await calls.post('/visits', body)).toEqual({ id: 9_007_199_254_740_993n, count: 3 });
    expect(rest.seen[0]).toMatchObject({ method: 'POST', body: '{"petId":9223372036854775807}' });
  });

  it('resolves to null when a write has no body in its response', async () => {
    await using rest = await open('', 204);
    expect(await callsOf(rest.petStore).post('/visits', {})).toBeNull();
    await expect(callsOf(rest.petStore).get('/visits')).rejects.toThrow('body: expected JSON');
  });

  it('is shared by equal reads of a key, and its values are not', async () => {
    await using rest = await open('{"tags":[]}');
    const [own, same, other] = [undefined, undefined, 'another-key'].map((key) =>
      callsOf(rest.petStore, key),
    );
    const results = await Promise.all(
      [own, own, same, other].map((calls) => calls?.get('/categories/1')),
    );
    expect(rest.seen.map(({ headers }) => headers.authorization).toSorted()).toEqual([
      'Bearer a-key-of-a-test',
      'Bearer another-key',
    ]);
    expect(results).toEqual(Array(4).fill({ tags: [] }));
    expect(new Set(results).size).toBe(4);
    await own?.post('/categories', {});
    await own?.post('/categories', {});
    expect(rest.seen).toHaveLength(4);
  });

  it('reads again after a write of the same request', async () => {
    await using rest = await open('{}');
    const calls = callsOf(rest.petStore);
    await calls.get('/carts/1');
    await Promise.all([calls.get('/carts/1'), calls.get('/carts/1')]);
    expect(rest.seen).toHaveLength(1);
    await calls.post('/carts/1', {});
    await Promise.all([calls.get('/carts/1'), calls.get('/carts/1')]);
    expect(rest.seen.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
  });

  it('has its template as label in the metrics, up to a hundred of them', async () => {
    await using rest = await open('{}');
    const calls = callsOf(rest.petStore);
    for (let id = 0; id < 3; id++) await calls.get(`/categories/{id}?page=${id}`, { id });
    for (let id = 0; id < 120; id++) await calls.get(`/tags/${id}`);
    const counted = 'petstore_rest_call_duration_seconds_count';
    const counts = await valuesOf(rest.metrics, counted, 'operation');
    expect(counts).toMatchObject({ 'GET /categories/{id}': 3, other: 21 });
    expect(Object.keys(counts)).toHaveLength(101);
  });

  it('is a clear error with the built-in backend', async () => {
    const petStore = await openBuiltin();
    await expect(callsOf(petStore).get('/categories/1')).rejects.toThrow(
      'This field calls another path of the REST service: expected one in PETSTORE_BASE_URL, received none.',
    );
    await petStore[Symbol.asyncDispose]();
  });
});
