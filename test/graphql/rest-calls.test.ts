import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/contract/error.ts';
import { RestCalls } from '../../src/graphql/rest-calls.ts';
import { owning } from '../support/dispose.ts';
import { callWith } from '../support/gateway.ts';
import { openTelemetry } from '../support/log.ts';
import { valuesOf } from '../support/metrics.ts';
import { openRest } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { buildSchema, openYoga } from '../support/yoga.ts';

type Work = (calls: RestCalls) => Promise<unknown>;

/** Starts a service that responds with this text, and a server whose resolver makes calls to it. */
async function open(body: string, status = 200, env?: Record<string, string>) {
  const upstream = await startUpstream((_request, response) => sendJson(response, status, body));
  let works: Work[] = [];
  const schema = buildSchema((builder) =>
    builder.queryField('run', (t) =>
      t.boolean({
        resolve: async (_root, _args, { petStore }) => {
          await works.shift()?.(petStore.rest);
          return true;
        },
      }),
    ),
  );
  const server = await openYoga(schema, env ?? { PETSTORE_BASE_URL: `${upstream.url}/v1` });
  return {
    seen: upstream.seen,
    /** Calls the service in a request with this key. @returns the outcome. */
    async run<T>(work: (calls: RestCalls) => Promise<T>, key = 'a-key-of-a-test'): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      works = [...works, (calls) => work(calls).then(resolve, reject)];
      await server.post({ query: '{ run }' }, { authorization: `Bearer ${key}` });
      return promise;
    },
    ...owning(server, upstream),
  };
}

describe('a call to another path', () => {
  it('sends the key to the base URL and encodes its parameters', async () => {
    await using rest = await open('{"name":"dogs"}');
    const parameters = { id: 'a/b ?#é', lang: 'en&x', page: 9_007_199_254_740_993n, no: undefined };
    const results = await rest.run(async (calls) => [
      await calls.get('/categories/{id}', parameters),
      await calls.get('/categories?all=1', { lang: 'en' }),
    ]);
    expect(results).toEqual([{ name: 'dogs' }, { name: 'dogs' }]);
    expect(rest.seen.map(({ url }) => url)).toEqual([
      '/v1/categories/a%2Fb%20%3F%23%C3%A9?lang=en%26x&page=9007199254740993',
      '/v1/categories?all=1&lang=en',
    ]);
    expect(rest.seen[0]?.headers.authorization).toBe('Bearer a-key-of-a-test');
  });

  it('is refused unless its path is below the base URL', async () => {
    await using rest = await open('{}');
    for (const path of [
      'https://other.example/categories',
      '//other.example/categories',
      'categories',
      '@other.example',
      '',
      '/../admin',
      '/categories/../../admin',
      '/categories/%2e%2E/admin',
      '/categories/..%2fadmin',
      '/categories/..%5cadmin',
      '/categories/a%2f../admin',
      '/categories/a%5c../admin',
      '/categories/.',
      '/categories\\..\\admin',
      '/categories/..;/admin',
      '/categories/.%2e%3Ba/admin',
      '/categories#part',
      '/categories with space',
      '/categories\r\nX-Header: 1',
    ]) {
      await expect(rest.run((calls) => calls.get(path))).rejects.toThrow(
        'Expected a path below the base URL, and no empty parameters.',
      );
      await expect(rest.run((calls) => calls.post(path, {}))).rejects.toThrow(InvalidInputError);
    }
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
    const get = (path: string) => rest.run((calls) => calls.get(path, { id }));
    await expect(get('/categories/{id}')).rejects.toThrow(InvalidInputError);
    const query = get('/categories?id={id}');
    if (id) await query;
    else await expect(query).rejects.toThrow(InvalidInputError);
    expect(rest.seen.map(({ url }) => url)).toEqual(
      id ? [`/v1/categories?id=${encodeURIComponent(id)}`] : [],
    );
  });

  it('keeps the digits of integers in both directions', async () => {
    await using rest = await open('{"id":9007199254740993,"count":3}', 201);
    const body = { petId: 9_223_372_036_854_775_807n };
    expect(await rest.run((calls) => calls.post('/visits', body))).toEqual({
      id: '9007199254740993',
      count: 3,
    });
    expect(rest.seen[0]).toMatchObject({ method: 'POST', body: '{"petId":9223372036854775807}' });
  });

  it('resolves to null when a write has no body in its response', async () => {
    await using rest = await open('', 204);
    expect(await rest.run((calls) => calls.post('/visits', {}))).toBeNull();
    await expect(rest.run((calls) => calls.get('/visits'))).rejects.toThrow('body: expected JSON');
  });

  it('is shared by equal reads until a write, also of other requests with the key; values are not', async () => {
    await using rest = await open('{"tags":[]}');
    const read = (calls: RestCalls) =>
      Promise.all([calls.get('/categories/1'), calls.get('/categories/1')]);
    const both = await Promise.all([rest.run(read), rest.run(read), rest.run(read, 'another-key')]);
    expect(rest.seen.map(({ headers }) => headers.authorization).toSorted()).toEqual([
      'Bearer a-key-of-a-test',
      'Bearer another-key',
    ]);
    expect(both.flat()).toEqual(Array(6).fill({ tags: [] }));
    expect(new Set(both.flat()).size).toBe(6);
    rest.seen.length = 0;
    await rest.run(async (calls) => {
      await read(calls);
      await read(calls);
      await Promise.all([calls.post('/carts/1', {}), calls.post('/carts/1', {})]);
      await read(calls);
    });
    expect(rest.seen.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST', 'GET']);
  });

  it('has its template as label in the metrics, up to a hundred of them', async () => {
    await using upstream = await startUpstream((_, response) => sendJson(response, 200, '{}'));
    const telemetry = openTelemetry();
    await using petStore = openRest(upstream.url, {}, telemetry);
    const calls = new RestCalls((request) => petStore.send(callWith(), request));
    for (let id = 0; id < 3; id++) await calls.get(`/categories/{id}?page=${id}`, { id });
    for (let id = 0; id < 120; id++) await calls.get(`/tags/${id}`);
    const counted = 'petstore_rest_call_duration_seconds_count';
    const counts = await valuesOf(telemetry.metrics, counted, 'operation');
    expect(counts).toMatchObject({ 'GET /categories/{id}': 3, other: 21 });
    expect(Object.keys(counts)).toHaveLength(101);
  });

  it('is a clear error with the built-in backend', async () => {
    await using builtin = await open('', 200, { DATABASE_URL: ':memory:' });
    await expect(builtin.run((calls) => calls.get('/categories/1'))).rejects.toThrow(
      'This field calls another path of the REST service: expected one in PETSTORE_BASE_URL, received none.',
    );
  });
});
