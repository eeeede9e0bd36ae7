import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { ListPetsDocument, persistedHash } from '../../packages/client/src/index.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { createPostgresDatabase } from '../support/databases.ts';
import { createFolder } from '../support/folder.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { manifestFile } from '../support/manifest.ts';
import { nodeStart } from '../support/process.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { hasPrometheus, startPrometheus } from './prometheus.ts';

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

const prometheusTest = it.skipIf(!hasPrometheus);
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

  it('are for the metrics of a gateway, all of which are documented', async () => {
    const metrics = new Metrics();
    metrics.watchRateLimitStore(() => true);
    metrics.watchReady(() => true);
    const { text } = await metrics.scrape();
    const served = [...text.matchAll(/^# TYPE (petstore_\w+)/gm)].map(([, name]) => name);
    const own = documented.flatMap(({ names }) => names.filter((name) => /^petstore_/.test(name)));
    expect(own.map((name) => name.replace(/_total$/, '')).sort()).toEqual(served.sort());
  });

  prometheusTest('have rules that are valid for Prometheus', () => {
    const path = fileURLToPath(new URL(rulesFile, root));
    const { status, stdout } = spawnSync('promtool', ['check', 'rules', path]);
    expect([status, String(stdout)]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  const job = 'job="shop/petstore-gateway"';
  const refused = (status: number) =>
    `petstore_requests_refused_total{${job}, reason="a", status="${status}"}`;
  const internal = `petstore_graphql_errors_total{${job}, code="INTERNAL_SERVER_ERROR"}`;
  const graphql = `petstore_graphql_request_duration_seconds_count{${job}, operation="List", outcome="data"}`;
  const upstream = `petstore_graphql_errors_total{${job}, code="UPSTREAM_TIMEOUT"}`;
  const deprecated = `petstore_graphql_deprecated_field_uses_total{${job}, field="Query.pet", operation="One", client="web"}`;
  const count = `petstore_v1_request_duration_seconds_count{${job}, operation="listPets"`;
  const bucket = (name: string, le: string) =>
    `petstore_${name}_duration_seconds_bucket{${job}, operation="listPets", le="${le}"}`;
  const overhead = (le: string) => `petstore_gateway_overhead_seconds_bucket{${job}, le="${le}"}`;
  const calls = [`petstore_rest_call_duration_seconds_count{${job}}`, '0+90x30'] as const;
  const slow = (name: string, limit: string, next: string) =>
    [
      [bucket(name, limit), '0+98x30'],
      [bucket(name, next), '0+100x30'],
      [bucket(name, '+Inf'), '0+100x30'],
    ] as const;
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
    [
      'PetstoreConnectionsFull',
      [`petstore_connections_displaced_total{${job}}`, '0x10 50+50x20'],
      [`petstore_connections_refused_total{${job}}`, '0x30'],
    ],
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
      'PetstoreGatewayOverheadHigh',
      ...(['0.1', '0.25', '+Inf'] as const).map(
        (le, index) => [overhead(le), `0+${index === 0 ? 98 : 100}x30`] as const,
      ),
    ],
    ['PetstoreRequestsSlow', ...slow('graphql_request', '1', '2.5')],
    ['PetstoreRestServiceSlow', ...slow('rest_call', '1', '2.5')],
    ['PetstoreRestRequestsSlow', ...slow('v1_request', '1', '2.5')],
    ['PetstoreQueriesSlow', ...slow('database_query', '0.5', '1')],
    ['PetstoreGatewayDown', [`up{${job}}`, '0x40']],
    ['PetstoreGatewaysMissing', ['up{job="node"}', '1x40']],
    ['PetstoreGatewaysMissing', [`up{${job}}`, '1x10 _x30']],
    ['PetstoreNotReady', [`petstore_ready{${job}}`, '1x10 0x20']],
    ['PetstoreUpstreamErrors', [upstream, '0+9x30'], [graphql, '0+90x30']],
    ['PetstoreCircuitOpen', [`petstore_rest_circuit{${job}, service="pets"}`, '0x10 1x20']],
    ['PetstoreKeysRefused', [`petstore_rest_refused_keys{${job}, service="pets"}`, '0x10 1x20']],
    [
      'PetstoreCallsWaiting',
      [`petstore_limit_used{${job}, limit="pets_waiting_calls"}`, '0x9 1x20'],
    ],
    ['PetstoreRateLimitStoreDown', [`petstore_rate_limit_store_up{${job}}`, '1x10 0x20']],
    ['PetstoreDeprecatedFieldUsed', [deprecated, '0x10 1+1x20']],
    // A series begins with its first count, perhaps of many events before the scrape.
    ['PetstoreDeprecatedFieldUsed', [deprecated, '_x10 1x20']],
    ['PetstoreQueriesWaiting', [`petstore_database_waiting_queries{${job}}`, '0x10 1x20']],
    ['PetstoreRetriesHigh', ...repeated('503')],
    ['PetstoreRetriesHigh', ...repeated('noConnection')],
    // Calls that are repeated at once.
    ['', ...repeated('stale')],
    ['', ...repeated('connectionClosed')],
  ];

  prometheusTest('fire only the alert of each condition', async () => {
    const tests = conditions.map(([alert, ...series]) => ({
      interval: '1m',
      input_series: [
        ...(series.some(([name]) => name.startsWith('up')) ? [] : [[`up{${job}}`, '1x40']]),
        ...series,
      ].map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: '22m',
          exp_samples: alert ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
        },
      ],
    }));
    expect(new Set(conditions.map(([alert]) => alert))).toEqual(
      new Set([...alerts.map(({ alert }) => alert), '']),
    );
    await test([fileURLToPath(new URL(rulesFile, root))], tests);
  });

  prometheusTest('end when nothing was counted for an hour or a day', async () => {
    const expr = 'count(ALERTS{alertstate="firing"}) or vector(0)';
    const firing = (name: string, values: string, times: Record<string, number>) => ({
      interval: '1m',
      input_series: [
        { series: `up{${job}}`, values: '1x1600' },
        { series: name, values },
      ],
      promql_expr_test: Object.entries(times).map(([eval_time, value]) => ({
        ...{ expr, eval_time },
        exp_samples: [{ labels: '{}', value }],
      })),
    });
    await test(
      [fileURLToPath(new URL(rulesFile, root))],
      [firing(deprecated, '1x1600', { '23h': 1, '25h': 0 })],
    );
  });

  prometheusTest('show in Prometheus what happened before its first scrape', async () => {
    await using upstream = await startUpstream((_, response) =>
      sendJson(response, 200, '{"id":1,"name":"Rex","categoryId":1,"tags":[]}'),
    );
    await using gateway = await nodeStart({
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      ADMIN_PORT: '0',
    });
    const send = () => fetch(graphqlRequest(gateway.url, { query: '{ pet(id: 1) { id } }' }));
    for (let count = 0; count < 25; count++) await (await send()).text();
    const [, admin = ''] = /Metrics +(http:\S+)/.exec(gateway.output.stdout) ?? [];
    const path = fileURLToPath(new URL(rulesFile, root));
    await using prometheus = await startPrometheus('petstore-gateway', admin, path);
    const firing = 'group by (alertname) (ALERTS{alertstate="firing"})';
    const expected = [{ metric: { alertname: 'PetstoreDeprecatedFieldUsed' }, value: '1' }];
    const soon = { interval: 500 };
    await vi.waitFor(async () => {
      const alerts = await prometheus.query(firing);
      expect(alerts).toEqual(expect.arrayContaining(expected));
    }, soon);
    const ready = async () => (await prometheus.query('petstore_ready')).map(({ value }) => value);
    // It is 0 until a first check has succeeded, which a scrape starts.
    await vi.waitFor(async () => expect(await ready()).toEqual(['1']), soon);
    await upstream[Symbol.asyncDispose]();
    await vi.waitFor(async () => expect(await ready()).toEqual(['0']), soon);
  });

  prometheusTest('have a query of the documents that only would refuse', async () => {
    const page = await read('docs/persisted-documents.md');
    const [, expr] = /```promql\n([\s\S]+?)```/.exec(page) ?? [];
    const sent = `petstore_graphql_documents_total{${job}, source="sent", operation="Shelf"`;
    const day = 24;
    const [one, other] = [`${sent}, instance="a"}`, `${sent}, instance="b"}`];
    /** The values per hour, and what the query returns after eight days. */
    const cases: readonly (readonly [series: Record<string, string>, value: number])[] = [
      [{}, 0],
      [{ [one]: `5x${9 * day}` }, 0],
      // A gateway that is gone since more than a week.
      [{ [one]: `1x100 _x${9 * day}` }, 0],
      // One that started in the week, and is gone since.
      [{ [one]: `5x${9 * day}`, [other]: `_x${7 * day} 1x10 _x${2 * day}` }, 1],
      [{ [one]: `5x${4 * day} 6x${5 * day}` }, 1],
    ];
    const tests = cases.map(([series, value]) => ({
      interval: '1h',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [{ expr, eval_time: '8d', exp_samples: [{ labels: '{}', value }] }],
    }));
    const manifest = sent.replace('sent', 'manifest');
    const input_series = [
      { series: `${manifest}, instance="a"}`, values: '1+1x20' },
      { series: `${manifest}, instance="b"}`, values: '0x20' },
      { series: one, values: '5x10 6x10' },
    ];
    const [, manifests] = /`(sum by[^`]+)`/.exec(page) ?? [];
    const lists = [
      { labels: '{instance="a"}', value: 11 },
      { labels: '{instance="b"}', value: 0 },
    ];
    const rehearsal = [
      {
        expr: expr?.replaceAll('7d', '5m'),
        eval_time: '12m',
        exp_samples: [{ labels: '{}', value: 1 }],
      },
      {
        expr: expr?.replaceAll('7d', '5m'),
        eval_time: '20m',
        exp_samples: [{ labels: '{}', value: 0 }],
      },
      { expr: manifests, eval_time: '10m', exp_samples: lists },
    ];
    await test([], [...tests, { interval: '1m', input_series, promql_expr_test: rehearsal }]);
  });

  /** Evaluates rules as promtool does. */
  async function test(rule_files: readonly string[], tests: readonly object[]): Promise<void> {
    const path = join(folder, 'tests.yaml');
    await writeFile(path, JSON.stringify({ rule_files, evaluation_interval: '1m', tests }));
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', path]);
    expect(`${stdout}${stderr}`).toMatch(/SUCCESS\s*$/);
  }

  prometheusTest('are also served in the older text format, without exemplars', async () => {
    await using gateway = await nodeStart({ DATABASE_URL: ':memory:', ADMIN_PORT: '0' });
    await (await fetch(graphqlRequest(gateway.url, { query: '{ pet(id: 999) { id } }' }))).text();
    const [, admin = ''] = /Metrics +(http:\S+)/.exec(gateway.output.stdout) ?? [];
    const scrape = async (accept: string) => (await fetch(admin, { headers: { accept } })).text();
    const text = await scrape('text/plain;version=0.0.4');
    expect(text).toContain(
      '\n# TYPE petstore_graphql_errors_total counter\npetstore_graphql_errors_total{code="INTERNAL_SERVER_ERROR"} 0\npetstore_graphql_errors_total{code="NOT_FOUND"} 1\n',
    );
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text });
    // 3: the text is valid, but some default metrics have unusual names.
    expect([0, 3], String(stderr)).toContain(status);
    const namesOf = (scraped: string) => scraped.match(/^\w+/gm);
    expect(namesOf(text)).toEqual(namesOf(await scrape('*/*')));
  });

  it.skipIf(!hasPrometheus || !hasRedis)('read series that gateways have', async () => {
    const series = await readSeries();
    const nameOf = (one: string) => /^\w+/.exec(one)?.[0] ?? '';
    const labelsOf = (one: string) => [...one.matchAll(/(\w+)="/g)].map(([, label]) => label);
    for (const [, ...condition] of conditions) {
      for (const [one] of condition.filter(([one]) => !one.startsWith('up{'))) {
        const labels = labelsOf(one).filter((label) => label !== 'job' && label !== 'client');
        const known = series.filter((other) => nameOf(other) === nameOf(one)).map(labelsOf);
        expect(known, one).toContainEqual(expect.arrayContaining(labels));
      }
    }
    // A rule for each panel, which fires if its expression has a value.
    const panelRules = shown.map((expression, index) => ({
      alert: `Panel${index}`,
      expr: `count(${complete(expression)}) > 0`,
    }));
    const path = join(folder, 'panels.yaml');
    await writeFile(path, JSON.stringify({ groups: [{ name: 'panels', rules: panelRules }] }));
    const input_series = series.map((one) => ({
      series: one.includes('{') ? one.replace('{', `{${job},`) : `${one}{${job}}`,
      values: '1+1x20',
    }));
    const exp_samples = panelRules.map(({ alert }) => ({
      labels: `{alertname="${alert}"}`,
      value: 1,
    }));
    const expr = 'group by (alertname) (ALERTS)';
    const promql_expr_test = [{ expr, eval_time: '10m', exp_samples }];
    await test([path], [{ interval: '1m', input_series, promql_expr_test }]);
  });
});

/** The series of a gateway in front of a REST service and of one with the built-in backend. */
async function readSeries(): Promise<readonly string[]> {
  await using upstream = await startUpstream(({ url, headers }, response) => {
    const isFailing = headers.authorization === 'Bearer failing';
    if (isFailing) return sendJson(response, 503, '{}');
    const pet = { id: Number(/\d+$/.exec(url)), name: 'Rex', categoryId: 1, tags: [] };
    sendJson(response, 200, JSON.stringify(url.startsWith('/v1/pets/') ? pet : [pet]));
  });
  await using redis = await startRedis();
  await using gateway = await nodeStart({
    RATE_LIMIT_PER_KEY: '20',
    RATE_LIMIT_STORE: redis.url,
    PETSTORE_BASE_URL: `${upstream.url}/v1`,
    PERSISTED_DOCUMENTS: 'allow',
    PERSISTED_DOCUMENTS_FILE: manifestFile,
    ADMIN_PORT: '0',
  });
  const DATABASE_URL = await createPostgresDatabase();
  await using builtin = await nodeStart({ DATABASE_URL, DEMO: 'on', ADMIN_PORT: '0' });
  const post = async (key: string, given: string | object) => {
    const body = typeof given === 'string' ? { query: given } : given;
    const headers = { authorization: `Bearer ${key}`, accept: 'multipart/mixed, application/json' };
    await (await fetch(graphqlRequest(gateway.url, body, headers))).text();
  };
  await post('a', 'query One { pet(id: 1) { id } a: pets { id } b: pets { id } }');
  await post('b', 'query List { pets { id } ... @defer { kind: __typename } }');
  await post('a', { documentId: persistedHash(ListPetsDocument), operationName: 'ListPets' });
  // More than a key may send in a second.
  await Promise.all(Array.from({ length: 100 }, () => post('failing', '{ pets { id } }')));
  const headers = { authorization: 'Bearer demo-key' };
  await (await fetch(`${builtin.url}/v1/pets`, { headers })).text();
  const scrapes = [gateway, builtin].map(async ({ output }) => {
    const [, admin] = /Metrics +(http:\S+)/.exec(output.stdout) ?? [];
    const text = await (await fetch(admin ?? '')).text();
    return [...text.matchAll(/^[a-z]\w*(?:\{[^}]*\})?(?= )/gm)].map(([one]) => one);
  });
  return [...new Set((await Promise.all(scrapes)).flat())];
}
