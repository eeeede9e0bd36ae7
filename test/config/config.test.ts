import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, warnAtStart } from '../../src/config/config.ts';
import { configRows, describeVariables } from '../../src/config/describe.ts';
import { unknownVariables } from '../../src/config/environment.ts';
import { documentedVariables } from '../../src/config/variables.ts';
import { createFolder } from '../support/folder.ts';

const PETSTORE_BASE_URL = 'https://pets.example/v1';
const file = 'file:data/pet-store.db';
const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318/base/' };
const production = { NODE_ENV: 'production', DATABASE_URL: ':memory:' };
const localPages = ['http://localhost:*', 'http://127.0.0.1:*'];
const neither =
  "DATABASE_URL: expected the built-in backend's database, or a REST service in PETSTORE_BASE_URL, because NODE_ENV is production; received neither";

describe('loadConfig', () => {
  // docs/configuration.md lists all defaults, and `npm run check` compares it with them.
  it('defaults to the built-in backend with a demo, on this machine only', () => {
    expect(loadConfig({})).toMatchObject({
      host: '127.0.0.1',
      adminHost: '127.0.0.1',
      backend: { kind: 'builtin', databaseUrl: file, poolSize: 10, demoKey: 'demo-key' },
      ...{ compression: false, graphiql: true, onlyLoopbackHosts: true },
      ...{ introspection: true, explain: true },
      corsOrigins: localPages,
      persistedDocuments: { mode: 'off', files: undefined },
    });
  });

  it('uses the REST service of PETSTORE_ENVIRONMENT', () => {
    const env = {
      PETSTORE_BASE_URL: 'https://pets.example/v1',
      PETSTORE_STAGING_BASE_URL: 'https://staging.pets.example/v1',
      MESSAGES_BASE_URL: 'https://messages.example',
    };
    expect(loadConfig(env).backend).toEqual({
      kind: 'rest',
      baseUrl: new URL('https://pets.example/v1'),
      messagesBaseUrl: new URL('https://messages.example'),
      timeoutMs: 10_000,
      logCredential: 'off',
      shareReads: true,
      honouring: 'off',
    });
    expect(loadConfig({ ...env, PETSTORE_ENVIRONMENT: 'staging' }).backend).toMatchObject({
      baseUrl: new URL('https://staging.pets.example/v1'),
    });
  });

  it('reports unknown PETSTORE_ and TLS_ variables without their values', () => {
    const env = {
      PETSTORE_BASE_URI: 'https://u:hunter2@pets.example/v1',
      petstore_base_url: 'https://pets.example/v1',
      ...{ PETSTORE_API_KEY: 'for-check-service', PETSTORE_ENVIRONMENT: '', OTHER: '1' },
      ...{ TLS_CRT: '/etc/tls.crt', TLS_PROXY_SERVICE_HOST: '10.0.0.2' },
      // Service links of Kubernetes.
      ...{ PETSTORE_GATEWAY_SERVICE_HOST: '10.0.0.1', PETSTORE_GATEWAY_SERVICE_PORT: '80' },
      ...{ PETSTORE_GATEWAY_SERVICE_PORT_HTTP: '80', PETSTORE_GATEWAY_PORT: 'tcp://10.0.0.1:80' },
      PETSTORE_GATEWAY_PORT_80_TCP: 'tcp://10.0.0.1:80',
      PETSTORE_GATEWAY_PORT_80_TCP_ADDR: '10.0.0.1',
    };
    const misspelled = 'PETSTORE_BASE_URI (did you mean PETSTORE_BASE_URL?)';
    const unknown = [misspelled, 'petstore_base_url', 'TLS_CRT'];
    expect(unknownVariables(env)).toEqual(unknown);
    const rows = configRows(env, loadConfig(env)).slice(-3);
    expect(rows).toEqual(unknown.map((name) => [name, '', 'unknown, ignored']));
  });

  it.each([
    ['MAX_REQUEST_IN_FLIGHT', 'MAX_REQUESTS_IN_FLIGHT'],
    ['LOG_LVL', 'LOG_LEVEL'],
    ['NODE_EVN', 'NODE_ENV'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['PETSTORE_BASE', undefined],
    ['TLS_CERT', 'TLS_CERT_FILE'],
  ])('recognizes %s as %s', (name, meant) => {
    const suggestion = meant ? ` (did you mean ${meant}?)` : '';
    expect(unknownVariables({ [name]: 'x' })).toEqual([name + suggestion]);
    expect(unknownVariables({ [name]: '' })).toEqual([]);
  });

  it("recognizes OpenTelemetry's variables that have no effect", () => {
    const names = 'OTEL_BSP_SCHEDULE_DELAY OTEL_SPAN_EVENT_COUNT_LIMIT OTEL_PROPAGATORS';
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_EXPORTR: 'none' };
    const others = Object.fromEntries(names.split(' ').map((name) => [name, 'x']));
    expect(unknownVariables({ ...env, ...others })).toEqual([
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'OTEL_TRACES_EXPORTR (did you mean OTEL_TRACES_EXPORTER?)',
      ...names.split(' '),
    ]);
  });

  it('does not take variables of other programs for misspelled ones', () => {
    const names =
      'HOME HOSTNAME PATH PWD LANG TERM USER SHELL HOSTS PORTS TZ DEBUG CI EDITOR MAIL FTP_PROXY ALL_PROXY http_proxy https_proxy no_proxy NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TRACES_TIMEOUT OTEL_METRICS_EXPORTER OTEL_EXPORTER_OTLP_LOGS_ENDPOINT OTEL_BLRP_SCHEDULE_DELAY KUBERNETES_PORT KUBERNETES_SERVICE_HOST INIT_CWD npm_config_cache npm_lifecycle_event LS_COLORS LOG_FILE MAX_BODY';
    const env = Object.fromEntries(names.split(' ').map((name) => [name, 'x']));
    expect(unknownVariables(env)).toEqual([]);
  });

  const demoKey = 'demo-key';
  const redis = 'rediss://:secret@redis.example:6379/1';
  const manifests = 'web.json, ios.json';
  const origins = ['http://localhost:*', 'https://shop.example'];
  const proxy = 'proxy.example:3128';
  const sampler = 'parentbased_traceidratio';
  const tempo = 'http://tempo/otlp';
  const [UPSTREAM_CA_FILE, UPSTREAM_CERT_FILE, UPSTREAM_KEY_FILE] = ['a', 'b', 'c'];
  const tls = { UPSTREAM_CA_FILE, UPSTREAM_CERT_FILE, UPSTREAM_KEY_FILE };
  const inProduction = { NODE_ENV: 'production' };

  it.each<[Record<string, string>, object]>([
    [{ DEMO: 'off' }, { backend: { demoKey: undefined } }],
    [{ ...inProduction, HOST: '0.0.0.0', DEMO: 'on' }, { backend: { demoKey } }],
    [
      { ...inProduction, DATABASE_URL: file },
      { backend: { demoKey: undefined }, graphiql: false, introspection: false },
    ],
    [{ DATABASE_URL: 'file:a' }, { backend: { demoKey: undefined }, onlyLoopbackHosts: false }],
    [{ DATABASE_URL: 'postgres://u:p@x/db' }, { backend: { demoKey: undefined } }],
    [{ DATABASE_URL: 'file:pets.db', DEMO: 'on' }, { backend: { demoKey } }],
    [{ DATABASE_URL: file }, { backend: { demoKey } }],
    [{ DATABASE_URL: ':memory:' }, { backend: { demoKey }, onlyLoopbackHosts: true }],
    [{ HOST: '0.0.0.0' }, { backend: { kind: 'builtin', demoKey: undefined } }],
    [{ ...production, GRAPHIQL: 'on' }, { graphiql: true }],
    [{ ...production, INTROSPECTION: 'on' }, { introspection: true }],
    [{ ...production, GRAPHIQL: 'on', INTROSPECTION: 'on' }, { explain: true }],
    [{ INTROSPECTION: 'keys' }, { introspection: 'keys' }],
    [{ COMPRESSION: 'on' }, { compression: true }],
    [production, { explain: false }],
    [
      { EXPLAIN: 'off', PORT: '', NODE_ENV: '' },
      { explain: false, port: 4000 },
    ],
    [{ GRAPHIQL: 'off' }, { explain: false }],
    [{ ...inProduction, PETSTORE_BASE_URL }, { backend: { kind: 'rest' } }],
    [
      { PERSISTED_DOCUMENTS: 'allow', PERSISTED_DOCUMENTS_FILE: manifests },
      { persistedDocuments: { mode: 'allow', files: ['web.json', 'ios.json'] } },
    ],
    [{ CORS_ORIGINS: origins.join(', ') }, { corsOrigins: origins }],
    [{ PETSTORE_BASE_URL, ...tls }, { backend: { caFile: 'a', certFile: 'b', keyFile: 'c' } }],
    [{ RATE_LIMIT_STORE: redis, RATE_LIMIT_PER_KEY: '20' }, { rateLimitStore: redis }],
    [{ RATE_LIMIT_PER_KEY: '20' }, { rateLimitPerKey: 20 }],
    [{ PETSTORE_BASE_URL, IDEMPOTENCY_STORE: redis }, { backend: { idempotencyStore: redis } }],
    [{ PETSTORE_BASE_URL }, { backend: { honouring: 'off' } }],
    [{ PETSTORE_BASE_URL, UPSTREAM_IDEMPOTENCY: 'on' }, { backend: { honouring: 'on' } }],
    // Pages of this machine may call a demo on a loopback address only.
    [{ DEMO: 'off' }, { corsOrigins: [] }],
    [{ DEMO: 'on', HOST: '0.0.0.0' }, { corsOrigins: [] }],
    [{ DEMO: 'on', PETSTORE_BASE_URL }, { corsOrigins: [] }],
    [{ DEMO: 'on', NODE_ENV: 'production' }, { corsOrigins: localPages }],
    // Proxies in upper or lower case, as in curl.
    [
      { PETSTORE_BASE_URL, HTTP_PROXY: proxy },
      { backend: { httpProxy: new URL(`http://${proxy}`) } },
    ],
    [{ PETSTORE_BASE_URL, HTTP_PROXY: proxy }, { backend: { httpsProxy: undefined } }],
    [{ PETSTORE_BASE_URL, NO_PROXY: 'a, .example' }, { backend: { noProxy: ['a', '.example'] } }],
    [
      { PETSTORE_BASE_URL, HTTPS_PROXY: 'http://a.example', https_proxy: 'https://b.example' },
      { backend: { httpsProxy: new URL('https://b.example') } },
    ],
    [{ OTEL_TRACES_SAMPLER: sampler }, { tracesSampler: sampler }],
    [{ OTEL_TRACES_SAMPLER_ARG: '0.25' }, { tracesSamplerArg: 0.25 }],
    [{ OTEL_TRACES_SAMPLER_ARG: '.5' }, { tracesSamplerArg: 0.5 }],
    [collector, { tracesUrl: new URL('http://otel:4318/base/v1/traces') }],
    [{ ...collector, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tempo }, { tracesUrl: new URL(tempo) }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tempo }, { tracesUrl: new URL(tempo) }],
    [{ ...collector, OTEL_SDK_DISABLED: 'false' }, { tracesUrl: expect.any(URL) }],
    [{ ...collector, OTEL_TRACES_EXPORTER: 'otlp' }, { tracesUrl: expect.any(URL) }],
    [{ ...collector, OTEL_SDK_DISABLED: 'True' }, { tracesUrl: undefined }],
    [{ ...collector, OTEL_TRACES_EXPORTER: 'none' }, { tracesUrl: undefined }],
    [{ WORKERS: 'auto' }, { workers: availableParallelism() }],
    [{ PORT: '4000', ADMIN_PORT: '4000', ADMIN_HOST: '127.0.0.2' }, { adminPort: 4000 }],
  ])('reads %j', (env, expected) => {
    expect(loadConfig(env)).toMatchObject(expected);
  });

  it.each<[Record<string, string>, string]>([
    [{ PERSISTED_DOCUMENTS: 'only' }, 'PERSISTED_DOCUMENTS_FILE: expected comma-separated paths'],
    [{ PERSISTED_DOCUMENTS: 'audit' }, 'PERSISTED_DOCUMENTS_FILE: expected comma-separated paths'],
    [
      { PERSISTED_DOCUMENTS: 'only', PERSISTED_DOCUMENTS_FILE: 'web.json,' },
      'PERSISTED_DOCUMENTS_FILE: expected comma-separated paths of JSON files, received "web.json,"',
    ],
    [{ PERSISTED_DOCUMENTS_FILE: 'a.json' }, 'PERSISTED_DOCUMENTS: expected allow, audit or only'],
    [
      { CORS_ORIGINS: 'http://localhost:*, https://shop.example', NODE_ENV: 'production' },
      'CORS_ORIGINS: expected origins with their ports, because NODE_ENV is production; received http://localhost:*',
    ],
    [{ CORS_ORIGINS: 'http://shop.example:*' }, 'CORS_ORIGINS: expected'],
    [{ CORS_ORIGINS: 'http://localhost:*/' }, 'CORS_ORIGINS: expected'],
    [{ CORS_ORIGINS: 'https://*.x.example' }, 'CORS_ORIGINS: expected'],
    [{ CORS_ORIGINS: 'https://shop.example, *' }, 'CORS_ORIGINS: expected'],
    [{ PETSTORE_BASE_URL: 'ftp://x.example' }, 'PETSTORE_BASE_URL: exp'],
    [{ PETSTORE_BASE_URL: 'https://u:p@x.example' }, 'PETSTORE_BASE_URL: exp'],
    [{ PETSTORE_BASE_URL: 'https://x.example?a' }, 'PETSTORE_BASE_URL: exp'],
    [{ PETSTORE_ENVIRONMENT: 'staging' }, 'PETSTORE_STAGING_BASE_URL: expected the base URL'],
    [{ PETSTORE_STAGING_BASE_URL: 'https://a.b' }, 'PETSTORE_BASE_URL: expected the base URL'],
    [inProduction, neither],
    [
      { NODE_ENV: 'production', PETSTORE_BASE_URI: 'https://a.example' },
      '; PETSTORE_BASE_URI (did you mean PETSTORE_BASE_URL?) is not a known variable',
    ],
    [
      { RATE_LIMIT_STORE: redis },
      'RATE_LIMIT_PER_KEY: expected a whole number from 1 to 1000000, b',
    ],
    [{ HTTPS_PROXY: 'socks5://proxy.example' }, 'HTTPS_PROXY: expected an http or https'],
    [{ HTTPS_PROXY: 'a b' }, 'HTTPS_PROXY: expected an http or https'],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER: expected always_on'],
    [{ OTEL_TRACES_EXPORTER: 'console' }, 'OTEL_TRACES_EXPORTER: expected otlp or none, received'],
    ...['a', '=b', 'pod=app=web', 'a=%zz', 'a=b,c'].map(
      (text): [Record<string, string>, string] => [
        { OTEL_RESOURCE_ATTRIBUTES: text },
        'OTEL_RESOURCE_ATTRIBUTES: expected NAME=VALUE,…, percent-encoded, received',
      ],
    ),
    [{ OTEL_SDK_DISABLED: 'yes' }, 'OTEL_SDK_DISABLED: expected true or false, received "yes"'],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1'],
    [
      { PETSTORE_BASE_URL, LOG_CREDENTIAL: 'hash', LOG_CREDENTIAL_SECRET: 'hunter2' },
      'LOG_CREDENTIAL_SECRET: expected at least 16 characters, received a value that is hidden',
    ],
    [{ WORKERS: '2', DATABASE_URL: ':memory:' }, 'WORKERS: expected 1, because processes cannot'],
    [{ WORKERS: '65' }, 'WORKERS: expected a whole number from 1 to 64, or auto for one per core'],
    [{ ADMIN_HOST: '127.0.0.2' }, 'because ADMIN_HOST is set; received nothing'],
    [
      { PETSTORE_BASE_URL, LOG_CREDENTIAL: 'hash' },
      'LOG_CREDENTIAL_SECRET: expected at least 16 characters, because LOG_CREDENTIAL is hash; received nothing',
    ],
    ...['TLS', 'UPSTREAM'].flatMap((prefix): [Record<string, string>, string][] => {
      const [cert, key] = [`${prefix}_CERT_FILE`, `${prefix}_KEY_FILE`];
      const missing = (one: string, other: string) =>
        `${one}: expected the path of a PEM file, because ${other} is set; received nothing`;
      return [
        [{ [key]: 'key.pem' }, missing(cert, key)],
        [{ [cert]: 'cert.pem' }, missing(key, cert)],
      ];
    }),
    [
      { LOG_CREDENTIAL: 'hash', LOG_CREDENTIAL_SECRET: 'a secret of 16 or more' },
      'LOG_CREDENTIAL: expected off, because the built-in backend logs accounts; received hash',
    ],
    [
      { MAX_REQUESTS_IN_FLIGHT: '100', MAX_REQUESTS_IN_FLIGHT_PER_KEY: '200' },
      'MAX_REQUESTS_IN_FLIGHT_PER_KEY: expected at most MAX_REQUESTS_IN_FLIGHT, which is 100; received 200',
    ],
    ...['tcp', 'udp', 'sctp'].map((protocol): [Record<string, string>, string] => [
      { ADMIN_PORT: `${protocol}://10.0.0.1:80` },
      `ADMIN_PORT: expected a whole number from 0 to 65535, received "${protocol}://10.0.0.1:80", a service link of Kubernetes: set enableServiceLinks: false in the pod`,
    ]),
    [{ PORT: '9100', ADMIN_PORT: '9100' }, 'ADMIN_PORT: expected another port than PORT, received'],
  ])('refuses %j', (env, message) => {
    expect(() => loadConfig(env)).toThrow(message);
  });

  it.each([
    ['file:///var/pets.db', 'file:/var/pets.db'],
    ['file://localhost/var/pets.db', 'file:/var/pets.db'],
    ['file:/var/pets.db', 'file:/var/pets.db'],
    ['file:data/~pets.db', 'file:data/~pets.db'],
    ['file:~/pets.db', undefined],
    ['file:~ann/pets.db', undefined],
    ['file:///~/pets.db', 'file:/~/pets.db'],
    ['file://pets.db', undefined],
    ['file://server/pets.db', undefined],
    ['file://localhost', undefined],
    ['file://localhostile/pets.db', undefined],
    ['file://', undefined],
    ['file:', undefined],
  ])('reads the database %s as %s', (DATABASE_URL, databaseUrl) => {
    const load = () => loadConfig({ DATABASE_URL }).backend;
    if (databaseUrl) expect(load()).toMatchObject({ databaseUrl });
    else expect(load).toThrow('DATABASE_URL: expected file:PATH without ~, :memory: or postgres:');
  });

  it('has a demo on the hosts of this machine', () => {
    const isDemo = (HOST: string) => loadConfig({ HOST }).onlyLoopbackHosts;
    const own = ['localhost', '::1', '127.0.0.1', '127.1.2.3', 'unix:/run/gateway.sock'];
    expect(own.filter(isDemo)).toEqual(own);
    expect(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example'].filter(isDemo)).toEqual([]);
  });

  it('returns a configuration that nothing changes', () => {
    const config = loadConfig({});
    const sections = [config.backend, config.operationLimits, config.persistedDocuments];
    expect([config, ...sections].map(Object.isFrozen)).toEqual([true, true, true, true]);
  });

  it('lists every invalid variable, its value and what is accepted in one message', () => {
    const load = () =>
      loadConfig({ PORT: '99999', NODE_ENV: 'prod', CORS_ORIGINS: 'https://a.example/,b' });
    expect(load).toThrow(ConfigError);
    expect(load).toThrowErrorMatchingInlineSnapshot(`
      [ConfigError: The configuration has 3 problems:
        - PORT: expected a whole number from 0 to 65535, received "99999"
        - NODE_ENV: expected development, production or test, received "prod"
        - CORS_ORIGINS: expected comma-separated origins such as https://shop.example, without wildcards; in development also http://localhost:* for every port, received "https://a.example/,b"]
    `);
  });

  it('reports an invalid value once, although its default contradicts another variable', () => {
    const load = () =>
      loadConfig({ PERSISTED_DOCUMENTS: 'on', PERSISTED_DOCUMENTS_FILE: 'a.json' });
    expect(load).toThrow(/^The configuration has a problem:\n.*, received "on"$/);
  });

  it.each([
    { PETSTORE_BASE_URL: 'https://u:hunt/er2@x.example' },
    { PETSTORE_BASE_URL: 'https://x.example/v1?api_key=hunter2' },
    { DATABASE_URL: 'mysql:u:hunter2@x.example' },
    { RATE_LIMIT_PER_KEY: '1', RATE_LIMIT_STORE: 'redis://:hunter2@x.example/pets' },
    { IDEMPOTENCY_STORE: 'redis://:hunter2@x.example/pets' },
    { DATABASE_URL: 'postgres://x.example/db?user=u&password=hunter2' },
    { DATABASE_URL: 'postgres://x.example/db?pass%77ord=hunter2' },
    { DATABASE_URL: 'postgres://x.example/db?sslmode=require&%70ass%77ord=hunter2' },
    { http_proxy: 'ftp://u:hunter2@x' },
    { PETSTORE_BASE_URL, LOG_CREDENTIAL: 'hash', LOG_CREDENTIAL_SECRET: 'hunter2' },
  ])('does not repeat a password: %j', (env) => {
    expect(() => loadConfig(env)).toThrow(/^(?!.*er2)/s);
  });

  it.each([
    ['DATABASE_URL', 'postgres://ann:hunt%er2@db.example/pets'],
    ['RATE_LIMIT_STORE', 'redis://:hunt%er2@redis.example'],
    ['IDEMPOTENCY_STORE', 'redis://:hunt%e9er2@redis.example'],
    ['MESSAGES_BASE_URL', 'https://messages.example/hun\nter2'],
    ['DATABASE_URL', 'postgres://ann:hun\nter2@db.example/pets'],
    ['DATABASE_URL', 'file:hun\nter2'],
    ['RATE_LIMIT_STORE', 'redis://:hun\r\nter2@redis.example'],
    ['IDEMPOTENCY_STORE', 'redis://:hunter2@redis.example\n'],
    ['HTTP_PROXY', 'http://ann:hun\tter2@proxy.example'],
    ['PETSTORE_BASE_URL', 'https://pets.example/hun\nter2'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://traces.example/hun\nter2'],
  ])('names the variable %s of a URL that others would read differently: %j', (name, url) => {
    const unencoded = /%/.test(url)
      ? /(?:, with an unencoded "%")?$/
      : /, with an unencoded "\\[rnt]"$/;
    const env = { RATE_LIMIT_PER_KEY: '1', [name]: url };
    expect(() => loadConfig(env)).toThrow(
      RegExp(`problem:\n  - ${name}: .*credential${unencoded.source}`),
    );
    expect(() => loadConfig(env)).toThrow(/^(?!.*(?:hun|er2))/s);
    const [, shown] = configRows(env, loadConfig({})).find(([row]) => row === name) ?? [];
    if (url.includes('@')) expect(shown).not.toMatch(/hun|er2/);
  });

  it.each([
    ['ann:hunter2@proxy.example', '***@proxy.example'],
    ['http://ann:hun/t@er2@proxy.example', 'http://***@proxy.example'],
    ['proxy.example:3128', 'proxy.example:3128'],
  ])('shows the proxy %s as %s', (https_proxy, shown) => {
    const rows = configRows({ https_proxy }, loadConfig({}));
    expect(rows).toContainEqual(['HTTPS_PROXY', shown, 'environment']);
  });

  it('shows the value and source of every variable, without passwords', () => {
    const env = {
      DATABASE_URL: 'postgres://ann:hunter2@db.example/pets',
      ...{ HOST: '', NODE_ENV: 'production', INTROSPECTION: 'on', WORKERS: 'auto' },
      RATE_LIMIT_PER_KEY: '20',
      RATE_LIMIT_STORE: 'redis://:secret@redis.example:6379/1',
      LOG_CREDENTIAL_SECRET: 'hunter2hunter2hunter2',
    };
    const config = loadConfig(env);
    const rows = configRows(env, config);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['DEMO', 'off', 'default'],
        ['GRAPHIQL', 'off', 'default'],
        ['INTROSPECTION', 'on', 'environment'],
        ['WORKERS', String(config.workers), 'environment'],
        ['HOST', '127.0.0.1', 'default'],
        ['ADMIN_PORT', '', 'unset'],
        ['DATABASE_URL', 'postgres://***@db.example/pets', 'environment'],
        ['RATE_LIMIT_STORE', 'redis://***@redis.example:6379/1', 'environment'],
        ['LOG_CREDENTIAL_SECRET', '***', 'environment'],
      ]),
    );
    expect(rows).toHaveLength(documentedVariables().length);
  });
});

describe('the warning about several workers', () => {
  const WORKERS = '2';
  const store = 'redis://localhost';

  it.each([
    [{ WORKERS, PETSTORE_BASE_URL }, ['IDEMPOTENCY_STORE']],
    [{ WORKERS, PETSTORE_BASE_URL, IDEMPOTENCY_STORE: store }, undefined],
    [{ WORKERS, PETSTORE_BASE_URL, UPSTREAM_IDEMPOTENCY: 'on' }, undefined],
    [{ WORKERS, PETSTORE_BASE_URL, UPSTREAM_IDEMPOTENCY: 'pets' }, ['IDEMPOTENCY_STORE']],
    [{ WORKERS }, undefined],
    [{ WORKERS, RATE_LIMIT_PER_KEY: '5' }, ['RATE_LIMIT_STORE']],
    [{ WORKERS, RATE_LIMIT_PER_KEY: '5', RATE_LIMIT_STORE: store }, undefined],
    [
      { WORKERS, PETSTORE_BASE_URL, RATE_LIMIT_PER_KEY: '5' },
      ['IDEMPOTENCY_STORE', 'RATE_LIMIT_STORE'],
    ],
    [{ WORKERS: '1', PETSTORE_BASE_URL, RATE_LIMIT_PER_KEY: '5' }, undefined],
  ])('for %j names %j', (env, variables) => {
    const warned: object[] = [];
    warnAtStart(loadConfig(env), { warn: (entry) => warned.push(entry) });
    expect(warned).toEqual(variables ? [{ variables }] : []);
  });
});

describe('a secret in a file', () => {
  const folder = createFolder();
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const url = 'postgres://ann:hunter2@db.example/pets';

  const ends = ['', '\n', '\r\n', '\n\r\n\n'].map((end) => url + end);
  it.each([
    ...ends,
    `\uFEFF${url}\n`,
  ])('is the value without its line breaks and byte order mark: %j', (text) => {
    const env = { NODE_ENV: 'production', DATABASE_URL_FILE: write('url', text) };
    expect(loadConfig(env).backend).toMatchObject({ kind: 'builtin', databaseUrl: url });
    expect(loadConfig({ ...env, DATABASE_URL: '' }).backend).toMatchObject({ databaseUrl: url });
  });

  it('is hidden where the configuration is printed', () => {
    const env = { DATABASE_URL_FILE: write('url', url) };
    const rows = configRows(env, loadConfig(env));
    expect(rows).toContainEqual(['DATABASE_URL', '***', 'file']);
    expect(rows).toContainEqual(['DATABASE_URL_FILE', env.DATABASE_URL_FILE, 'environment']);
    expect(describeVariables()).toMatch(
      /^ {2}DATABASE_URL_FILE\n {6}file that contains DATABASE_/m,
    );
    expect(unknownVariables({ DATABASE_URL_FIL: 'x' })).toEqual([
      'DATABASE_URL_FIL (did you mean DATABASE_URL_FILE?)',
    ]);
  });

  it.each([
    [
      'is missing',
      '/nowhere/url',
      {},
      'DATABASE_URL_FILE: .*/nowhere/url, found: no such file .*$',
    ],
    ['has only a newline', write('newline', '\n'), {}, `found nothing in ${folder}/newline$`],
    [
      'is set beside the variable',
      write('both', url),
      { DATABASE_URL: 'file:a.db' },
      `DATABASE_URL_FILE: expected no value, because DATABASE_URL is set too; received ${folder}/both$`,
    ],
    [
      'has an invalid value',
      write('invalid', 'hunter2'),
      {},
      `DATABASE_URL: expected file:PATH.*, received a value that is hidden .* in ${folder}/invalid$`,
    ],
  ])('that %s is one problem, which names the path only', (_, DATABASE_URL_FILE, env, message) => {
    const load = () => loadConfig({ NODE_ENV: 'production', DATABASE_URL_FILE, ...env });
    expect(load).toThrow(new RegExp(`has a problem:\n  - .*${message}`));
    expect(load).toThrow(/^(?!.*er2)/s);
  });
});

describe('CONFIG_FILE', () => {
  const folder = createFolder();
  const write = (text: string) => {
    writeFileSync(join(folder, 'env'), text);
    return { CONFIG_FILE: join(folder, 'env') };
  };

  it('contains variables, which those of the environment precede', () => {
    const env = write('# Ports\nPORT=5000\r\n\nexport LOG_LEVEL="debug"\n  WORKERS = 3 # cores\n');
    expect(loadConfig({ ...env, PORT: '', WORKERS: '2' })).toMatchObject({
      ...{ port: 5000, logLevel: 'debug', workers: 2 },
    });
    const rows = configRows(env, loadConfig(env));
    expect(rows).toContainEqual(['PORT', '5000', 'file']);
    expect(rows).toContainEqual(['CONFIG_FILE', env.CONFIG_FILE, 'environment']);
  });

  it('may begin with a byte order mark', () => {
    const env = write('\uFEFFNODE_ENV=production\nDATABASE_URL=:memory:\n');
    expect(loadConfig(env)).toMatchObject({ graphiql: false, backend: { demoKey: undefined } });
  });

  it('may name the file of a secret, and its unknown variables are reported', () => {
    writeFileSync(join(folder, 'url'), 'file:secret.db');
    const env = write(`DATABASE_URL_FILE=${folder}/url\nLOG_LVL=debug\n`);
    const config = loadConfig(env);
    expect(config.backend).toMatchObject({ databaseUrl: 'file:secret.db' });
    expect(configRows(env, config).at(-1)?.[0]).toBe('LOG_LVL (did you mean LOG_LEVEL?)');
  });

  it.each([
    ['PORT=1\nhunter2\n', 'CONFIG_FILE: expected NAME=VALUE in line 2 of /.*/env$'],
    ['{"PORT": "hunter2"}', 'CONFIG_FILE: expected NAME=VALUE in line 1 of /.*/env$'],
    // Node takes other white space than spaces and tabs for a part of the name, and a lone carriage return
    // for nothing. A line may also become a part of the value before it.
    ...['\f', '\v', '\u00A0', '\u2003', '\uFEFF', 'export\t', 'export\u00A0'].map(
      (before): [string, string] => [
        `PORT=1\n${before}NODE_ENV=production\n`,
        'CONFIG_FILE: expected NAME=VALUE in line 2 of /.*/env$',
      ],
    ),
    ['PORT=1\nNODE_ENV\u00A0=production\n', 'CONFIG_FILE: expected NAME=VALUE in line 2 of '],
    ['#\rNODE_ENV=production\n', 'CONFIG_FILE: expected NAME=VALUE in line 1 of '],
    ['HOST= \nNODE_ENV=production\n', 'CONFIG_FILE: expected NAME=VALUE in line 2 of '],
    ['HOST="\nNODE_ENV=production\nLOG_LEVEL="info"\n', '.* expected NAME=VALUE in line 2 of '],
    ['PORT=many\n', 'PORT: expected a whole number from 0 to 65535, received "many"$'],
    ['PORT=1\nWORKERS=1', 'CONFIG_FILE: expected a line break at the end of /.*/env$'],
    [
      undefined,
      'CONFIG_FILE: expected a file of variables in /nowhere/env, found: no such file or directory$',
    ],
  ])('is one problem if it is invalid: %j', (text, message) => {
    const env = text === undefined ? { CONFIG_FILE: '/nowhere/env' } : write(text);
    expect(() => loadConfig(env)).toThrow(new RegExp(`has a problem:\n  - ${message}`));
    expect(() => loadConfig(env)).toThrow(/^(?!.*er2)/s);
  });
});
