import { describe, expect, it } from 'vitest';
import { openPetStore } from '../../src/petstore/open.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { callWith, openGateway, openKeys } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL, withKey } from '../support/graphql.ts';
import { openTelemetry } from '../support/log.ts';
import { deprecatedUsesIn, valuesOf } from '../support/metrics.ts';
import { openRest } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** All values of a label in a scrape. */
async function labelsOf(metrics: Metrics, label: string): Promise<Set<string | undefined>> {
  const { text } = await metrics.scrape();
  return new Set(
    [...text.matchAll(new RegExp(`${label}="([^"]*)"`, 'g'))].map(([, value]) => value),
  );
}

describe('the metrics', () => {
  it('use at most a hundred operation names as labels', async () => {
    await using opened = await openGateway();
    for (let index = 0; index < 110; index++) {
      await postGraphQL(opened.gateway, `query Name${index} { pets(limit: 1) { id } }`);
    }
    expect((await labelsOf(opened.metrics, 'operation')).size).toBe(101);
  });

  it('use an operation name as a label only after a request succeeds', async () => {
    await using opened = await openGateway();
    for (const name of ['Evil1', 'Evil2']) {
      await postGraphQL(opened.gateway, `query ${name} { pets { id } }`, {}, {});
    }
    await postGraphQL(opened.gateway, 'query Evil3 { __typename }', {}, {});
    await postGraphQL(opened.gateway, 'query Evil4 { pet(id: 1) { id } }', {}, {});
    await postGraphQL(opened.gateway, 'query Good { pets { id } }');
    await postGraphQL(opened.gateway, '{ pets { id } }');
    await postGraphQL(opened.gateway, '{ nope }');
    expect(await labelsOf(opened.metrics, 'operation')).toEqual(
      new Set(['other', 'Good', 'anonymous']),
    );
    expect(await labelsOf(opened.metrics, 'code')).toEqual(
      // INTERNAL_SERVER_ERROR is exported from the start.
      new Set(['INTERNAL_SERVER_ERROR', 'UNAUTHENTICATED', 'GRAPHQL_VALIDATION_FAILED']),
    );
  });

  it('contain durations in seconds', async () => {
    const start = performance.now();
    const telemetry = openTelemetry();
    await using upstream = await startUpstream((_, response) => sendJson(response, 200, '[]'));
    const petStore = openRest(upstream.url, {}, telemetry);
    await using opened = await openGateway({ petStore });
    await postGraphQL(opened.gateway, '{ pets { id } }');
    for (const metrics of [opened.metrics, telemetry.metrics]) {
      const { text } = await metrics.scrape();
      const [, sum] = /^petstore_(?:graphql|rest).*_seconds_sum\{.* (\S+)$/m.exec(text) ?? [];
      expect(Number(sum)).toBeGreaterThan(0);
      expect(Number(sum)).toBeLessThan((performance.now() - start) / 1000);
    }
  });

  it('truncate long operation names, as does the log', async () => {
    await using opened = await openGateway();
    await postGraphQL(opened.gateway, `query ${'A'.repeat(200_000)} { pets { id } }`);
    expect((await opened.metrics.scrape()).text.length).toBeLessThan(50_000);
    expect(Math.max(...opened.lines.map((line) => line.length))).toBeLessThan(1000);
  });
});

describe('the metrics of the built-in backend', () => {
  it('time requests to /v1 by operation and status', async () => {
    await using opened = await openGateway();
    const send = (path: string, init: RequestInit = {}) =>
      opened.gateway(
        new Request(`http://localhost${path}`, {
          ...init,
          headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
        }),
      );
    await send('/v1/pets');
    await send('/v1/pets', { method: 'HEAD' });
    await send('/v1/pets?limit=0');
    await send('/v1/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' });
    await send('/v1/pets/404');
    await send('/quickstart/messages', { method: 'POST', body: '{"message":"hi"}' });
    await opened.gateway(new Request('http://localhost/v1/store/orders'));
    await send('/v1/nothing');
    await send('/v1/openapi.json');
    await postGraphQL(opened.gateway, '{ pets { id } }');
    const counted = 'petstore_v1_request_duration_seconds_count';
    expect(await valuesOf(opened.metrics, counted, 'operation', 'status')).toEqual({
      'listPets 200': 2,
      'listPets 400': 1,
      'createPet 201': 1,
      'getPet 404': 1,
      'sendMessage 200': 1,
      'listOrders 401': 1,
    });
  });

  it('time queries by operation', async () => {
    const telemetry = openTelemetry();
    const options = {
      kind: 'builtin',
      databaseUrl: ':memory:',
      demoKey: 'demo-key',
      timeoutMs: 10_000,
    } as const;
    await using petStore = await openPetStore(options, telemetry, openKeys());
    const counted = 'petstore_database_query_duration_seconds_count';
    const counts = () => valuesOf(telemetry.metrics, counted, 'operation');
    await petStore.listPets(callWith(), {});
    await petStore.createPet(callWith(), { name: 'Rex', categoryId: '1' });
    const { createPet = 0 } = await counts();
    await petStore.createPet(callWith(), { name: 'Rex', categoryId: '1' });
    expect(await counts()).toMatchObject({
      createPet: createPet + 1,
      listPets: expect.any(Number),
    });
  });
});

describe('the metrics of limits', () => {
  it('include those of the gateway, which are 0 when nothing is in flight', async () => {
    await using opened = await openGateway();
    await postGraphQL(opened.gateway, '{ pets { id } }');
    const { text } = await opened.metrics.scrape();
    const lines = text.split('\n');
    for (const limit of ['requests', 'body_bytes']) {
      expect(lines).toContain(`petstore_limit_used{limit="${limit}"} 0`);
      for (const by of ['key', 'all', 'unknown']) {
        expect(lines).toContain(`petstore_limit_refused_total{limit="${limit}",by="${by}"} 0`);
      }
    }
  });

  it('count refusals once, however often they are scraped', async () => {
    const metrics = new Metrics();
    metrics.watchLimit({ name: 'calls', used: 0, refused: { key: 2, all: 1, unknown: 0 } });
    const refusals = () => valuesOf(metrics, 'petstore_limit_refused_total', 'by');
    expect(await refusals()).toMatchObject({ key: 2, all: 1 });
    expect(await refusals()).toMatchObject({ key: 2, all: 1 });
  });
});

describe('an operation that uses the deprecated field', () => {
  it('gets a deprecation notice in its result, and no Sunset header, which is for /graphql itself', async () => {
    await using opened = await openGateway();
    for (const query of [
      '{ pet(id: 1) { id } }',
      '{ ...F } fragment F on Query { ...G } fragment G on Query { pet(id: 1) { id } }',
      '{ pet(id: 404404) { id } }',
    ]) {
      const { extensions, headers } = await postGraphQL(opened.gateway, query);
      expect(extensions).toEqual({
        deprecations: [
          { field: 'Query.pet', removal: '2030-12-05', replacement: 'Query.pets(status:)' },
        ],
      });
      expect([headers.get('sunset'), headers.get('link')]).toEqual([null, null]);
    }
  });

  it.each([
    'query Old { a: pet(id: 1) { id } b: pet(id: 2) { id } } query New { pets(limit: 1) { id } }',
    'query New { pets(limit: 1) { id } } query Old { ...F } fragment F on Query { pet(id: 1) { id } }',
  ])('is the only one of its document that it counts for: %s', async (query) => {
    await using opened = await openGateway();
    const run = async (operationName: string) => {
      const parameters = { query, operationName };
      const response = await opened.gateway(graphqlRequest('http://gateway.test', parameters));
      return (await response.json()).extensions;
    };
    for (let times = 0; times < 3; times++) expect(await run('New')).toBeUndefined();
    expect(await deprecatedUsesIn(opened.metrics)).toEqual({});
    expect(await run('Old')).toMatchObject({ deprecations: [{ field: 'Query.pet' }] });
    expect(await deprecatedUsesIn(opened.metrics)).toEqual({ 'Query.pet Old unknown': 1 });
  });

  it.each([
    ['its variables are invalid', {}, withKey, undefined],
    ['it has no key', { id: '1' }, {}, { pet: null }],
    ['its key is malformed', { id: '1' }, { authorization: 'Bearer é' }, { pet: null }],
  ])('is not counted if %s', async (_, variables, headers, expected) => {
    await using opened = await openGateway();
    const query = 'query One($id: ID!) { pet(id: $id) { id } }';
    const { data, text } = await postGraphQL(opened.gateway, query, variables, headers);
    expect(data).toEqual(expected);
    if (data === undefined) expect(text).not.toContain('deprecations');
    expect(await deprecatedUsesIn(opened.metrics)).toEqual({});
  });

  it('is counted if its variables skip the field', async () => {
    await using opened = await openGateway();
    const query =
      'query Both($old: Boolean!) { pets(limit: 1) { id } pet(id: 1) @include(if: $old) { id } }';
    const { text } = await postGraphQL(opened.gateway, query, { old: false });
    expect(text).toContain('deprecations');
    expect(await deprecatedUsesIn(opened.metrics)).toEqual({ 'Query.pet Both unknown': 1 });
  });
});
