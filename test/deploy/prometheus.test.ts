import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { createPostgresDatabase } from '../support/databases.ts';
import { createFolder } from '../support/folder.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { nodeStart } from '../support/process.ts';
import { hasPrometheus, startPrometheus } from '../support/prometheus.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFile(new URL(file, root), 'utf8');
const rulesFile = 'deploy/prometheus/alerts.yaml';
const rules = await read(rulesFile);

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
const alerts: readonly Rule[] = parse(rules).groups.flatMap(
  (group: { readonly rules: readonly Rule[] }) => group.rules,
);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(
  await read('deploy/grafana/dashboard.json'),
);
const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const isOfBuiltin = (expression: string) => /petstore_(?:v1|database)_/.test(expression);
/** An expression of the dashboard as Grafana sends it. */
const complete = (expression: string) =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*');

/** The rows of the documented table of metrics: their names, and when to alert. */
const documented = [
  ...(await read('docs/observability.md')).matchAll(/^\| (`(?:petstore|nodejs)_.*) \| (.*) ?\|$/gm),
].map(([, names = '', when = '']) => ({
  names: [...names.matchAll(/`(\w+)/g)].map(([, name = '']) => name),
  when: when.trim(),
}));

if (!hasPrometheus) process.stdout.write('Alert tests are SKIPPED: install prometheus.\n');

describe('the dashboard and the alerts', () => {
  const folder = createFolder();

  it('cover every documented metric', () => {
    expect(documented.length).toBeGreaterThan(9);
    for (const { names, when } of documented) {
      for (const name of names) {
        expect(
          shown.some((expression) => expression.includes(name)),
          name,
        ).toBe(true);
        const hasAlert = alerts.some(({ expr }) => expr.includes(name));
        if (when !== '') expect(hasAlert, name).toBe(true);
      }
    }
  });

  it.skipIf(!hasPrometheus)('have rules that are valid for Prometheus', () => {
    const path = fileURLToPath(new URL(rulesFile, root));
    const { status, stdout } = spawnSync('promtool', ['check', 'rules', path]);
    expect([status, String(stdout)]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  const job = 'job="shop/petstore-gateway"';
  const refused = (status: number) =>
    `petstore_requests_refused_total{${job}, reason="a", status="${status}"}`;
  const drift = `petstore_contract_drift_total{${job}, kind="unknown_member", field="tags"}`;
  const internal = `petstore_graphql_errors_total{${job}, code="INTERNAL_SERVER_ERROR"}`;
  const count = `petstore_v1_request_duration_seconds_count{${job}, operation="listPets"`;
  const bucket = (name: string, le: string) =>
    `petstore_${name}_duration_seconds_bucket{${job}, operation="listPets", le="${le}"}`;
  const calls = [`petstore_rest_call_duration_seconds_count{${job}}`, '0+90x30'] as const;
  const repeated = (after: string) => [
    [`petstore_rest_retries_total{${job}, after="${after}"}`, '0+9x30'] as const,
    calls,
  ];

  /** Alerts, and series of a value per minute that fire only that alert after 22 minutes. */
  const conditions: readonly (readonly [string, ...(readonly [string, string])[]])[] = [
    ['PetstoreInternalErrors', [internal, '0x20 1x20']],
    ['PetstoreRequestsRefused', [refused(503), '0x10 1+1x20']],
    // A refused key is no reason to add replicas.
    ['PetstoreKeyRequestsRefused', [refused(429), '0x10 1+1x20']],
    ['PetstoreContractDrift', [drift, '0x10 1+1x20']],
    ['PetstoreConfigReloadFailed', [`petstore_config_reload_success{${job}}`, '1x10 0x20']],
    ['PetstoreLogLinesDropped', [`petstore_log_lines_dropped_total{${job}}`, '0x20 1+1x20']],
    ['PetstoreEventLoopLags', [`nodejs_eventloop_lag_mean_seconds{${job}}`, '0.2x40']],
    ['PetstoreProcessorBusy', [`process_cpu_seconds_total{${job}}`, '0+58x40']],
    ['PetstoreMemoryHigh', [`process_resident_memory_bytes{${job}}`, '500000000x40']],
    [
      'PetstoreRestRequestsFail',
      [`${count}, status="200"}`, '0+94x30'],
      [`${count}, status="503"}`, '0+6x30'],
    ],
    [
      'PetstoreRestRequestsSlow',
      [bucket('v1_request', '1'), '0+98x30'],
      [bucket('v1_request', '2.5'), '0+100x30'],
      [bucket('v1_request', '+Inf'), '0+100x30'],
    ],
    [
      'PetstoreQueriesSlow',
      [bucket('database_query', '0.5'), '0+98x30'],
      [bucket('database_query', '1'), '0+100x30'],
      [bucket('database_query', '+Inf'), '0+100x30'],
    ],
    ['PetstoreQueriesWaiting', [`petstore_database_waiting_queries{${job}}`, '0x10 1x20']],
    ['PetstoreRetriesHigh', ...repeated('503')],
    ['PetstoreRetriesHigh', ...repeated('noConnection')],
    // Calls that are repeated at once.
    ['', ...repeated('stale')],
    ['', ...repeated('connectionClosed')],
  ];

  it.skipIf(!hasPrometheus)('fire only the alert of each condition', async () => {
    const tests = conditions.map(([alert, ...series]) => ({
      interval: '1m',
      input_series: series.map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: '22m',
          exp_samples: alert ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
        },
      ],
    }));
    const path = join(folder, 'tests.yaml');
    const rule_files = [fileURLToPath(new URL(rulesFile, root))];
    await writeFile(path, JSON.stringify({ rule_files, evaluation_interval: '1m', tests }));
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', path]);
    expect(`${stdout}${stderr}`).toMatch(/SUCCESS\s*$/);
  });
});

/** The faults of the REST service, and the alerts that each fires. */
const faults = {
  drifting: ['PetstoreContractDrift'],
  flaky: ['PetstoreRetriesHigh', 'PetstoreDeprecatedFieldUsed'],
  slow: [
    'PetstoreRequestsSlow',
    'PetstoreRestServiceSlow',
    'PetstoreCallsWaiting',
    'PetstoreRequestsRefused',
  ],
  failing: ['PetstoreUpstreamErrors', 'PetstoreKeysRefused'],
  broken: ['PetstoreCircuitOpen'],
} as const;

/** The shipped rules, with shorter times. */
const quickRules = rules.replace(/\[\d+[mhd]\]/g, '[4s]').replace(/for: \d+m/g, 'for: 1s');

describe.skipIf(!hasPrometheus)('Prometheus', () => {
  it('fires no alert while the gateway is healthy, and the expected alerts at each fault', async () => {
    let behaviour: 'healthy' | keyof typeof faults = 'healthy';
    let calls = 0;
    await using upstream = await startUpstream(async ({ url }, response) => {
      if (behaviour === 'broken') return void response.destroy();
      if (behaviour === 'failing') return sendJson(response, 500, '{}');
      if (behaviour === 'flaky' && calls++ % 3 === 0) return sendJson(response, 503, '{}');
      if (behaviour === 'slow') await new Promise((resolve) => setTimeout(resolve, 1500));
      const more = behaviour === 'drifting' && { tags: [] };
      const pet = { id: Number(/\d+$/.exec(url)), name: 'Rex', categoryId: 1, ...more };
      sendJson(response, 200, JSON.stringify(url.startsWith('/v1/pets/') ? pet : [pet]));
    });
    await using redis = hasRedis ? await startRedis() : undefined;
    await using gateway = await nodeStart({
      ...(redis && { RATE_LIMIT_PER_KEY: '1000000', RATE_LIMIT_STORE: redis.url }),
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      ADMIN_PORT: '0',
      MAX_REQUESTS_IN_FLIGHT: '250',
    });
    const admin = /Metrics +http:\/\/(\S+)\/metrics/.exec(gateway.output.stdout)?.[1] ?? '';
    await using prometheus = await startPrometheus('shop/petstore-gateway', admin, quickRules);

    let id = 0;
    /** Sends requests from this many clients until `isOver` returns true. */
    const load = (clients: number, query: string, isOver: () => boolean) =>
      Promise.all(
        Array.from({ length: clients }, async (_, client) => {
          while (!isOver()) {
            const headers = {
              authorization: `Bearer demo-key-${Math.floor(client / 2)}`,
              accept: 'multipart/mixed, application/json',
            };
            // Different ids, because equal reads share a call.
            const parameters = { query, variables: { id: ++id } };
            const response = await fetch(graphqlRequest(gateway.url, parameters, headers));
            await response.text();
          }
        }),
      );
    const fired = new Set<string>();
    const watch = async (isOver: () => boolean) => {
      while (!isOver()) for (const name of await prometheus.firing()) fired.add(name);
    };

    const healthyUntil = performance.now() + 6000;
    const isHealthyOver = () => performance.now() > healthyUntil;
    const later = '... @defer { kind: __typename }';
    const list = `query List { pets { id } ${later} }`;
    await Promise.all([load(5, list, isHealthyOver), watch(isHealthyOver)]);
    expect(fired).toEqual(new Set());

    for (const [fault, expected] of Object.entries(faults)) {
      behaviour = fault as keyof typeof faults;
      const end = performance.now() + 30_000;
      const isOver = () => expected.every((name) => fired.has(name)) || performance.now() > end;
      const one = `query One($id: ID!) { pet(id: $id) { id } ${later} }`;
      await Promise.all([load(behaviour === 'slow' ? 300 : 20, one, isOver), watch(isOver)]);
      expect([...fired], fault).toEqual(expect.arrayContaining([...expected]));
    }
    const isShown = (expression: string) =>
      !isOfBuiltin(expression) && (redis || !expression.includes('rate_limit_store_up'));
    for (const expression of shown.filter(isShown).map(complete)) {
      expect(await prometheus.query(expression), expression).toBeGreaterThan(0);
    }
    if (redis) {
      await redis.kill();
      await vi.waitFor(
        async () => expect(await prometheus.firing()).toContain('PetstoreRateLimitStoreDown'),
        { timeout: 15_000, interval: 250 },
      );
    }
    gateway.kill('SIGKILL');
    await gateway.exited;
    await vi.waitFor(
      async () => expect(await prometheus.firing()).toContain('PetstoreGatewayDown'),
      {
        timeout: 15_000,
        interval: 250,
      },
    );
  }, 180_000);

  it('shows the built-in backend, and fires the alerts when its database is locked', async () => {
    const databaseUrl = await createPostgresDatabase();
    await using gateway = await nodeStart({
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE: '2',
      ADMIN_PORT: '0',
    });
    const admin = /Metrics +http:\/\/(\S+)\/metrics/.exec(gateway.output.stdout)?.[1] ?? '';
    await using prometheus = await startPrometheus('shop/petstore-gateway', admin, quickRules);
    let isOver = false;
    const load = Array.from({ length: 10 }, async () => {
      const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
      const body = '{"name":"Rex","categoryId":1}';
      while (!isOver) {
        const response = await fetch(`${gateway.url}/v1/pets`, { method: 'POST', headers, body });
        await response.text();
      }
    });
    const expressions = shown.filter(isOfBuiltin).map(complete);
    expect(expressions.length).toBe(7);
    for (const expression of expressions) {
      await vi.waitFor(
        async () => expect(await prometheus.query(expression), expression).toBeGreaterThan(0),
        { timeout: 15_000, interval: 250 },
      );
    }
    expect(await prometheus.query('petstore_database_size_bytes > 1e6')).toBe(1);
    expect(await prometheus.firing()).not.toContain('PetstoreRestRequestsFail');
    const other = new pg.Client(databaseUrl);
    await other.connect();
    await other.query('begin; lock table pets in access exclusive mode');
    const expected = ['PetstoreQueriesWaiting', 'PetstoreRestRequestsFail'];
    await vi.waitFor(
      async () =>
        expect([...(await prometheus.firing())]).toEqual(expect.arrayContaining(expected)),
      { timeout: 60_000, interval: 250 },
    );
    await other.end();
    isOver = true;
    await Promise.all(load);
  }, 120_000);
});
