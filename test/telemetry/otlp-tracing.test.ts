import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import * as stable from '@opentelemetry/semantic-conventions';
import {
  ATTR_GRAPHQL_OPERATION_NAME,
  ATTR_GRAPHQL_OPERATION_TYPE,
  ATTR_URL_TEMPLATE,
} from '@opentelemetry/semantic-conventions/incubating';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Sampling } from '../../src/telemetry/trace.ts';
import type { ExportedSpan } from '../support/collector.ts';
import { createPostgresDatabase } from '../support/databases.ts';
import { graphqlRequest, postGraphQL } from '../support/graphql.ts';
import { startRestGateway } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { startTraced } from './traced.ts';

const authorization = 'Bearer demo-key';
const [server, client] = [2, 3];

/** Returns a span without its ids and times: its name, kind, status and attributes. */
function described({ name, kind, status, attributes }: ExportedSpan) {
  const own = attributes.map(({ key, value }) => [key, Object.values(value)[0]]);
  const { 'petstore.request_id': _, ...rest } = Object.fromEntries(own);
  return { name, kind, isError: status.code === 2, attributes: rest };
}

/** Sends requests to a gateway, and returns the spans of each. */
async function trace(
  env: Record<string, string>,
  send: (url: string) => AsyncGenerator<Request> | Iterable<Request>,
) {
  await using traced = await startTraced(env);
  for await (const request of send(traced.url)) await (await fetch(request)).text();
  const exported = await traced.spans();
  const byTrace = [...Map.groupBy(exported, ({ traceId }) => traceId).values()];
  const traces = byTrace.map((spans) => {
    const [root, ...calls] = spans.toSorted((one, other) => one.kind - other.kind);
    for (const call of calls) expect(call.parentSpanId).toBe(root?.spanId);
    return [...(root ? [root] : []), ...calls].map(described);
  });
  const keys = exported.flatMap(({ attributes }) => attributes.map(({ key }) => key));
  expect(new Set(keys).difference(conventional)).toEqual(new Set());
  return traces;
}

/** The names of attributes of the current conventions, and those of the gateway. */
const conventional = new Set<unknown>([
  ...Object.entries(stable).flatMap(([name, key]) => (name.startsWith('ATTR_') ? key : [])),
  ATTR_GRAPHQL_OPERATION_NAME,
  ATTR_GRAPHQL_OPERATION_TYPE,
  ATTR_URL_TEMPLATE,
  ...['account', 'key_id', 'credential', 'request_id', 'error_codes', 'operation'].map(
    (name) => `petstore.${name}`,
  ),
]);

const post = (url: string, query: string) => graphqlRequest(url, { query });

const graphql = {
  'http.request.method': 'POST',
  'http.response.status_code': 200,
  'http.route': '/graphql',
  'url.path': '/graphql',
  'url.scheme': 'http',
};

describe("OpenTelemetry's semantic conventions", () => {
  it('name the spans of GraphQL requests and REST calls', async () => {
    let calls = 0;
    await using upstream = await startUpstream(({ url }, response) => {
      if (url === '/api/v1/pets?limit=2&status=sold') return sendJson(response, 200, '[]');
      if (url === '/api/v1/store/orders' && calls++ === 0) return sendJson(response, 503, '{}');
      if (url === '/api/v1/store/orders') return sendJson(response, 200, '[]');
      if (url === '/api/v1/pets/2') return sendJson(response, 200, '{}');
      sendJson(response, 404, '{"code":"gone","message":"No such pet.","status":404}');
    });
    const traces = await trace({ PETSTORE_BASE_URL: `${upstream.url}/api/v1/` }, function* (url) {
      yield post(url, 'query Sold { pets(limit: 2, status: sold) { id } }');
      yield post(url, '{ pet(id: 1) { id } }');
      yield post(url, '{ pet(id: 2) { id } }');
      yield post(url, '{ orders }');
      yield post(url, 'mutation { sendMessage(message: "Hi") { id } }');
      yield post(url, '{ nope }');
      yield new Request(`${url}/secret-path?token=x`, { method: 'PROPFIND' });
    });
    const { port } = new URL(upstream.url);
    const call = (
      template: string,
      path: string,
      status: number,
      operation: string,
      more = {},
    ) => ({
      name: `GET /api/v1${template}`,
      kind: client,
      isError: 'error.type' in more,
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': status,
        'petstore.operation': operation,
        'server.address': '127.0.0.1',
        'server.port': Number(port),
        'url.full': `${upstream.url}/api/v1${path}`,
        'url.template': `/api/v1${template}`,
        ...more,
      },
    });
    const request = (type: string, more: object = {}) => ({
      name: type,
      kind: server,
      isError: 'error.type' in more,
      attributes: { ...graphql, 'graphql.operation.type': type, ...more },
    });
    const failed = (code: string) => ({ 'error.type': code, 'petstore.error_codes': code });
    expect(traces).toEqual([
      [
        request('query', { 'graphql.operation.name': 'Sold' }),
        call('/pets', '/pets?limit=2&status=sold', 200, 'listPets'),
      ],
      [
        request('query', failed('NOT_FOUND')),
        call('/pets/{petId}', '/pets/1', 404, 'getPet', { 'error.type': '404' }),
      ],
      [
        request('query', failed('UPSTREAM_INVALID_RESPONSE')),
        call('/pets/{petId}', '/pets/2', 200, 'getPet', { 'error.type': 'invalid' }),
      ],
      [
        request('query'),
        call('/store/orders', '/store/orders', 200, 'listOrders', {
          'http.request.resend_count': 1,
        }),
      ],
      [request('mutation', failed('NOT_CONFIGURED'))],
      [
        {
          ...request('POST /graphql', failed('GRAPHQL_VALIDATION_FAILED')),
          attributes: { ...graphql, ...failed('GRAPHQL_VALIDATION_FAILED') },
        },
      ],
      [
        {
          name: 'HTTP',
          kind: server,
          isError: false,
          attributes: {
            'http.request.method': '_OTHER',
            'http.request.method_original': 'PROPFIND',
            'http.response.status_code': 404,
            'url.path': '/secret-path',
            'url.scheme': 'http',
          },
        },
      ],
    ]);
  });

  it('name the spans of REST requests and SQLite', async () => {
    const traces = await trace({ DATABASE_URL: ':memory:', DEMO: 'on' }, function* (url) {
      yield new Request(`${url}/v1/pets/999`, { headers: { authorization } });
      yield new Request(`${url}/v1/openapi.json`);
      yield new Request(`${url}/${'x'.repeat(300)}`);
    });
    const get = { 'http.request.method': 'GET', 'url.scheme': 'http' };
    const found = { 'http.response.status_code': 404, 'http.route': '/v1/pets/{petId}' };
    const select = { 'db.operation.name': 'SELECT', 'db.collection.name': 'pets' };
    const file = { 'http.response.status_code': 200, 'url.path': '/v1/openapi.json' };
    expect(traces).toMatchObject([
      [
        {
          name: 'GET /v1/pets/{petId}',
          attributes: { ...get, ...found, 'url.path': '/v1/pets/999' },
        },
        { name: 'SELECT pets', attributes: { 'db.system.name': 'sqlite', ...select } },
      ],
      [{ name: 'GET', attributes: { ...get, ...file } }],
      [{ attributes: { 'url.path': `/${'x'.repeat(255)}` } }],
    ]);
  });

  it('name the spans of PostgreSQL, with its error codes', async () => {
    const databaseUrl = await createPostgresDatabase();
    const traces = await trace({ DATABASE_URL: databaseUrl, DEMO: 'on' }, async function* (url) {
      const other = new pg.Client(databaseUrl);
      await other.connect();
      await other.query('alter table messages rename to moved');
      await other.end();
      yield new Request(`${url}/quickstart/messages`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"message":"Hi"}',
      });
    });
    expect(traces).toMatchObject([
      [
        {
          name: 'POST /quickstart/messages',
          isError: true,
          attributes: { 'http.response.status_code': 500, 'error.type': '500' },
        },
        {
          name: 'INSERT messages',
          isError: true,
          attributes: {
            'db.system.name': 'postgresql',
            'db.namespace': new URL(databaseUrl).pathname.slice(1),
            'db.operation.name': 'INSERT',
            'db.collection.name': 'messages',
            'error.type': '42P01',
          },
        },
      ],
    ]);
  });
});

const ids = 'aaaabbbbccccdddd1111222233334444-1234567812345678';

/** Sends a request with each `traceparent`. @returns those of its calls, and how many spans there are. */
async function traceparentsOf(sent: readonly (string | undefined)[], sampling?: Sampling) {
  await using upstream = await startUpstream((_, response) => sendJson(response, 200, '[]'));
  await using traced = await startTraced({ PETSTORE_BASE_URL: `${upstream.url}/v1` }, sampling);
  for (const traceparent of sent) {
    const headers = { authorization, ...(traceparent && { traceparent }) };
    await fetch(graphqlRequest(traced.url, { query: '{ pets { id } }' }, headers));
  }
  const { length: spans } = await traced.spans();
  return { spans, received: upstream.seen.map(({ headers }) => headers['traceparent']) };
}

describe('the sampler', () => {
  it.each([
    ['always_on', 1, ['01', '01', '01']],
    ['always_off', 1, ['00', '00', '00']],
    ['traceidratio', 0, ['00', '00', '00']],
    ['traceidratio', 1, ['01', '01', '01']],
    ['parentbased_always_on', 1, ['01', '01', '00']],
    ['parentbased_always_off', 1, ['00', '01', '00']],
    ['parentbased_traceidratio', 0, ['00', '01', '00']],
  ])('%s with %d decides for callers without a trace, with one and with an ignored one: %j', async (tracesSampler, tracesSamplerArg, flags) => {
    const sent = [undefined, `00-${ids}-01`, `00-${ids}-00`];
    const { received, spans } = await traceparentsOf(sent, { tracesSampler, tracesSamplerArg });
    expect(received.map((header) => String(header).slice(-2))).toEqual(flags);
    for (const header of received.slice(1)) expect(header).toContain(ids.slice(0, 32));
    // One for each request, and one for its call.
    expect(spans).toBe(2 * flags.filter((flag) => flag === '01').length);
  });
});

describe('a trace of a later version of W3C Trace Context', () => {
  it('is continued by its first fields, and sent on as version 00', async () => {
    const { received } = await traceparentsOf(
      ['01', 'ff-more', '02-more'].map((end) => `01-${ids}-${end}`),
    );
    const [traceId, spanId] = ids.split('-');
    expect(received).toEqual(
      ['01', '01', '00'].map((flags) =>
        expect.stringMatching(`^00-${traceId}-(?!${spanId})[0-9a-f]{16}-${flags}$`),
      ),
    );
  });
});

describe('a trace', () => {
  it('is sent on beside a host that observes calls, and adds no header', async () => {
    const observed: unknown[] = [];
    const observe = (message: unknown) => observed.push(message);
    subscribe('undici:request:create', observe);
    onTestFinished(() => void unsubscribe('undici:request:create', observe));
    await using rest = await startRestGateway();
    const headers = { traceparent: `00-${ids}-01`, tracestate: 'shop=a1', authorization };
    const body = { query: '{ pets { id } orders }' };
    await fetch(graphqlRequest(rest.url, body, headers));
    expect(rest.upstream.seen).toMatchObject([{ headers }, { headers }]);
    expect(observed.length).toBeGreaterThanOrEqual(2);
  });
});

describe('a tracestate', () => {
  it('of more than 32 members keeps the first 32, in their order', async () => {
    await using upstream = await startUpstream((_, response) => sendJson(response, 200, '[]'));
    await using traced = await startTraced({ PETSTORE_BASE_URL: `${upstream.url}/v1` });
    const members = Array.from({ length: 40 }, (_, index) => `a${index}=${index}`);
    for (const count of [1, 32, 33, 40]) {
      const tracestate = members.slice(0, count).join();
      const headers = { authorization, traceparent: `00-${ids}-01`, tracestate };
      await fetch(graphqlRequest(traced.url, { query: '{ pets { id } }' }, headers));
    }
    expect(upstream.seen.map(({ headers }) => headers['tracestate'])).toEqual(
      [1, 32, 32, 32].map((count) => members.slice(0, count).join()),
    );
  });
});

describe('without tracing', () => {
  it('valid trace headers of the caller are forwarded unchanged, and malformed ones are dropped', async () => {
    await using service = await startRestGateway();
    const valid = [`00-${ids}-01`, `01-${ids}-03`, `cc-${ids}-01-what-the-future-adds`];
    const malformed = [
      '00-zz-11-01',
      `00-${'0'.repeat(32)}-1234567812345678-01`,
      `00-${'12345678'.repeat(4)}-${'0'.repeat(16)}-01`,
      `00-${ids}-01-more`,
      `01-${ids}-01more`,
      `01-${ids}-01-${'x'.repeat(500)}`,
      `ff-${ids}-01`,
    ];
    for (const traceparent of [...valid, ...malformed]) {
      const headers = { authorization, traceparent, tracestate: 'shop=a1' };
      await postGraphQL(service.gateway, '{ pets { id } }', {}, headers);
    }
    expect(
      service.upstream.seen.map(({ headers: sent }) => [sent['traceparent'], sent['tracestate']]),
    ).toEqual([
      ...valid.map((traceparent) => [traceparent, 'shop=a1']),
      ...malformed.map(() => [undefined, undefined]),
    ]);
  });
});
