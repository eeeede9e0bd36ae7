import * as stable from '@opentelemetry/semantic-conventions';
import {
  ATTR_GRAPHQL_OPERATION_NAME,
  ATTR_GRAPHQL_OPERATION_TYPE,
  ATTR_URL_TEMPLATE,
} from '@opentelemetry/semantic-conventions/incubating';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openTracing } from '../../src/telemetry/tracing.ts';
import { type ExportedSpan, startCollector } from '../support/collector.ts';
import { createPostgresDatabase } from '../support/databases.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { quiet } from '../support/log.ts';
import { nodeStart } from '../support/process.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

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
  await using collector = await startCollector();
  await using gateway = await nodeStart({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  for await (const request of send(gateway.url)) await (await fetch(request)).text();
  gateway.kill('SIGTERM');
  await gateway.exited;
  const byTrace = [...Map.groupBy(collector.spans, ({ traceId }) => traceId).values()];
  const traces = byTrace.map((spans) => {
    const [root, ...calls] = spans.toSorted((one, other) => one.kind - other.kind);
    for (const call of calls) expect(call.parentSpanId).toBe(root?.spanId);
    return [...(root ? [root] : []), ...calls].map(described);
  });
  const keys = collector.spans.flatMap(({ attributes }) => attributes.map(({ key }) => key));
  expect(new Set(keys).difference(conventional)).toEqual(new Set());
  return { traces, port: Number(new URL(gateway.url).port) };
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
    const { traces } = await trace(
      { PETSTORE_BASE_URL: `${upstream.url}/api/v1/` },
      function* (url) {
        yield post(url, 'query Sold { pets(limit: 2, status: sold) { id } }');
        yield post(url, '{ pet(id: 1) { id } }');
        yield post(url, '{ pet(id: 2) { id } }');
        yield post(url, '{ orders }');
        yield post(url, 'mutation { sendMessage(message: "Hi") { id } }');
        yield post(url, '{ nope }');
        yield new Request(`${url}/secret-path?token=x`, { method: 'PROPFIND' });
      },
    );
    const call = (template: string, path: string, more: object) => ({
      name: `GET /api/v1${template}`,
      kind: client,
      isError: 'error.type' in more,
      attributes: {
        'http.request.method': 'GET',
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(upstream.url).port),
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
    const status = (code: number) => ({ 'http.response.status_code': code });
    expect(traces).toEqual([
      [
        request('query', { 'graphql.operation.name': 'Sold' }),
        call('/pets', '/pets?limit=2&status=sold', {
          ...status(200),
          'petstore.operation': 'listPets',
        }),
      ],
      [
        request('query', failed('NOT_FOUND')),
        call('/pets/{petId}', '/pets/1', {
          ...status(404),
          'error.type': '404',
          'petstore.operation': 'getPet',
        }),
      ],
      [
        request('query', failed('UPSTREAM_INVALID_RESPONSE')),
        call('/pets/{petId}', '/pets/2', {
          ...status(200),
          'error.type': 'invalid',
          'petstore.operation': 'getPet',
        }),
      ],
      [
        request('query'),
        call('/store/orders', '/store/orders', {
          ...status(200),
          'http.request.resend_count': 1,
          'petstore.operation': 'listOrders',
        }),
      ],
      [
        request('mutation', failed('UPSTREAM_UNAVAILABLE')),
        {
          name: 'POST /messages',
          kind: client,
          isError: true,
          attributes: {
            'error.type': 'unavailable',
            'http.request.method': 'POST',
            'petstore.operation': 'sendMessage',
            'url.template': '/messages',
          },
        },
      ],
      [
        {
          name: 'POST /graphql',
          kind: server,
          isError: true,
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
  }, 30_000);

  it('name the spans of REST requests and SQLite', async () => {
    const { traces } = await trace(
      { DATABASE_URL: ':memory:', DEMO: 'on', EXPLAIN: 'on' },
      function* (url) {
        yield new Request(`${url}/v1/pets/999`, { headers: { authorization } });
        yield new Request(`${url}/v1/openapi.json`);
        const explained = post(url, '{ pets { id } }');
        explained.headers.set('x-petstore-explain', '1');
        yield explained;
      },
    );
    const query = {
      name: 'SELECT pets',
      kind: client,
      isError: false,
      attributes: {
        'db.system.name': 'sqlite',
        'db.operation.name': 'SELECT',
        'db.collection.name': 'pets',
      },
    };
    const get = { 'http.request.method': 'GET', 'url.scheme': 'http' };
    expect(traces).toEqual([
      [
        {
          name: 'GET /v1/pets/{petId}',
          kind: server,
          isError: false,
          attributes: {
            ...get,
            'http.response.status_code': 404,
            'http.route': '/v1/pets/{petId}',
            'url.path': '/v1/pets/999',
          },
        },
        query,
      ],
      [
        {
          name: 'GET',
          kind: server,
          isError: false,
          attributes: {
            ...get,
            'http.response.status_code': 200,
            'url.path': '/v1/openapi.json',
          },
        },
      ],
      [expect.objectContaining({ name: 'query' }), query],
    ]);
  }, 30_000);

  it('name the spans of PostgreSQL, with its error codes', async () => {
    const databaseUrl = await createPostgresDatabase();
    const { traces } = await trace(
      { DATABASE_URL: databaseUrl, DEMO: 'on' },
      async function* (url) {
        const other = new pg.Client(databaseUrl);
        await other.connect();
        await other.query('alter table messages rename to moved');
        await other.end();
        yield new Request(`${url}/quickstart/messages`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: '{"message":"Hi"}',
        });
      },
    );
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
  }, 60_000);
});

describe('the sampler', () => {
  const traceId = 'aaaabbbbccccdddd1111222233334444';

  it.each([
    ['always_on', 1, { none: true, recorded: true, ignored: true }],
    ['always_off', 1, { none: false, recorded: false, ignored: false }],
    ['traceidratio', 0, { none: false, recorded: false, ignored: false }],
    ['traceidratio', 1, { none: true, recorded: true, ignored: true }],
    ['parentbased_always_on', 1, { none: true, recorded: true, ignored: false }],
    ['parentbased_always_off', 1, { none: false, recorded: true, ignored: false }],
    ['parentbased_traceidratio', 0, { none: false, recorded: true, ignored: false }],
  ])('%s with %d records by the decision of the caller: %j', async (sampler, fraction, expected) => {
    const flags = { none: undefined, recorded: '01', ignored: '00' };
    for (const [caller, flag] of Object.entries(flags)) {
      const isRecorded = expected[caller as keyof typeof flags];
      await using collector = await startCollector();
      const sampling = { tracesSampler: sampler, tracesSamplerArg: fraction };
      const tracing = await openTracing(new URL(collector.url), quiet.log, sampling);
      const traceparent = flag && `00-${traceId}-1234567812345678-${flag}`;
      const head = { method: 'GET', scheme: 'http', path: '/', headers: { traceparent } };
      const request = tracing.startRequest(head);
      const call = request?.startCall(
        { operation: 'listPets', method: 'GET', path: '/pets' },
        undefined,
      );
      expect(call?.headers?.traceparent).toMatch(isRecorded ? /-01$/ : /-00$/);
      if (flag) expect(call?.headers?.traceparent).toContain(traceId);
      call?.end(200, { status: 200, retries: 0 });
      await tracing[Symbol.asyncDispose]();
      expect(collector.spans.length, caller).toBe(isRecorded ? 1 : 0);
    }
  });
});
