import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startCollector } from '../support/collector.ts';
import { graphqlRequest, withKey } from '../support/graphql.ts';
import { nodeStart } from '../support/process.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

describe('a failing request', () => {
  it('is found by its ids in metrics, logs and traces', async () => {
    await using collector = await startCollector();
    await using upstream = await startUpstream(({ url }, response) => {
      if (url === '/v1/pets') return sendJson(response, 200, '[]');
      sendJson(response, 404, '{"code":"gone","message":"No such pet.","status":404}');
    });
    await using folder = await mkdtempDisposable(join(tmpdir(), 'tracing-'));
    const file = join(folder.path, 'gateway.env');
    const variables = [
      'OTEL_SERVICE_NAME=replaced',
      'OTEL_EXPORTER_OTLP_HEADERS=x-collector-token=a%20token,x-tenant=eu',
      'OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=staging,service.name=overridden',
    ];
    await writeFile(file, `${variables.join('\n')}\n`);
    await using gateway = await nodeStart({
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      ADMIN_PORT: '0',
      CONFIG_FILE: file,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_SERVICE_NAME: 'pets-eu',
    });
    const traceId = 'aaaabbbbccccdddd1111222233334444';
    const query = 'query Checkout { pets { id } pet(id: 1) { id } }';
    const headers = {
      ...withKey,
      'x-request-id': 'checkout-42',
      traceparent: `00-${traceId}-1234567812345678-01`,
      tracestate: 'shop=a1,other=b2',
      'graphql-client-name': 'shop',
      'graphql-client-version': '1.4.2',
    };
    await fetch(graphqlRequest(gateway.url, { query }, headers));

    const admin = /Metrics +(\S+)/.exec(gateway.output.stdout)?.[1] ?? '';
    const scrape = await (await fetch(admin)).text();
    expect(scrape).toMatch(
      new RegExp(
        `petstore_graphql_errors_total{code="NOT_FOUND"} 1 # {request_id="checkout-42",trace_id="${traceId}"} 1`,
      ),
    );
    expect(scrape).toContain('petstore_rest_circuit{service="pets"} 0');
    expect(scrape).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expect(scrape).toMatch(/^process_resident_memory_bytes /m);

    await vi.waitFor(() => expect(gateway.output.stderr).toContain('checkout-42'));
    const line = JSON.parse(gateway.output.stderr.trim().split('\n').at(-1) ?? '');
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      requestId: 'checkout-42',
      traceId,
      operation: 'query Checkout',
      client: { name: 'shop', version: '1.4.2' },
      status: 200,
      codes: ['NOT_FOUND'],
      ms: expect.any(Number),
      calls: expect.arrayContaining([
        { operation: 'listPets', status: 200, ms: expect.any(Number) },
        { operation: 'getPet', status: 404, ms: expect.any(Number) },
      ]),
      msg: 'request',
    });

    // The shutdown exports pending spans.
    gateway.kill('SIGTERM');
    await gateway.exited;
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    const request = spans.find(({ name }) => name === 'query');
    const call = spans.find(({ name }) => name === 'GET /v1/pets/{petId}');
    expect(request).toMatchObject({ parentSpanId: '1234567812345678', status: { code: 2 } });
    expect(request?.attributes).toContainEqual({
      key: 'petstore.request_id',
      value: { stringValue: 'checkout-42' },
    });
    for (const [key, stringValue] of [
      ['service.name', 'pets-eu'],
      ['deployment.environment.name', 'staging'],
    ]) {
      expect(request?.resource).toContainEqual({ key, value: { stringValue } });
    }
    expect(collector.seen[0]?.headers).toMatchObject({
      'x-collector-token': 'a token',
      'x-tenant': 'eu',
    });
    expect(gateway.output.stderr).not.toContain('token');
    expect(call).toMatchObject({ parentSpanId: request?.spanId });
    const sent = upstream.seen.find(({ url }) => url === '/v1/pets/1')?.headers;
    expect(sent).toMatchObject({
      'x-request-id': 'checkout-42',
      traceparent: `00-${traceId}-${call?.spanId}-01`,
      tracestate: 'shop=a1,other=b2',
    });
  });
});

describe('the admin port', () => {
  it('serves metrics and health, and the public port serves no metrics', async () => {
    await using gateway = await nodeStart({ DATABASE_URL: ':memory:', ADMIN_PORT: '0' });
    const admin = /Metrics +(\S+)\/metrics/.exec(gateway.output.stdout)?.[1] ?? '';
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    expect((await fetch(`${admin}/livez`)).status).toBe(200);
    expect((await fetch(`${admin}/graphql`)).status).toBe(404);
    expect((await fetch(`${admin}/metrics`, { method: 'POST' })).status).toBe(405);
    const head = await fetch(`${admin}/metrics`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-type')).toMatch(/^application\/openmetrics-text/);
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
    const text = 'text/plain; version=0.0.4; charset=utf-8';
    const open = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
    for (const [accept, type] of [
      ['', open],
      ['*/*', open],
      ['text/html, */*;q=0.8', open],
      ['text/plain;version=0.0.4', text],
      ['text/*', text],
      ['text/plain;version=0.0.4;q=1,*/*;q=0.1', text],
      ['text/plain, application/openmetrics-text;q=0', text],
      // Prometheus 2 and 3, and Telegraf.
      [
        'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
        open,
      ],
      [
        'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,*/*;q=0.1',
        open,
      ],
      [
        'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3',
        text,
      ],
    ] as const) {
      const { headers } = await fetch(`${admin}/metrics`, { headers: { accept } });
      expect([accept, headers.get('content-type')]).toEqual([accept, type]);
      expect(headers.get('vary')).toBe('Accept');
    }
  });
});
