import { backendVariables } from './backend-variables.ts';
import { graphqlVariables } from './graphql-variables.ts';
import {
  baseUrl,
  fraction,
  isLoopback,
  isSocket,
  listOf,
  matching,
  oneOf,
  onOff,
  pemFile,
  port,
  processes,
  redisUrl,
  reloaded,
  wholeNumber,
} from './kinds.ts';
import { inDevelopment, limit, setting, type Variable } from './variable.ts';

/** Every variable that has a value of its own, each declared once; see `documentedVariables`. */
export const variables = {
  CONFIG_FILE: {
    ...matching(/^/, 'the path of a file with lines such as LOG_LEVEL=debug'),
    meaning: 'file of variables; environment variables win',
  },
  PORT: {
    ...setting('port', port, '4000'),
    meaning: 'port to listen on; 0 picks a free port',
  },
  HOST: {
    ...setting(
      'host',
      matching(
        /^(?!unix:)[\w.:-]+$|^unix:\/[^?]+(?:\?mode=[0-7]{3})?$/,
        'a host name, an IP address, or unix:/PATH, with ?mode=660 for another mode of that file',
      ),
      '127.0.0.1',
    ),
    meaning: 'address or Unix domain socket to listen on',
  },
  TLS_CERT_FILE: {
    ...setting('tlsCertFile', pemFile),
    meaning: 'certificate to serve HTTPS with, followed by those of its issuers',
  },
  TLS_KEY_FILE: {
    ...setting('tlsKeyFile', pemFile),
    meaning: 'private key of `TLS_CERT_FILE`, without a passphrase',
  },
  COMPRESSION: {
    ...setting('compression', onOff, 'off'),
    meaning: 'compress texts of 4 KiB and more with br or gzip',
  },
  KEEP_ALIVE_TIMEOUT_MS: {
    ...setting('keepAliveTimeoutMs', wholeNumber(1000, 86_400_000), '75000'),
    meaning:
      'time after which an idle connection is closed, in milliseconds; set it longer than in the proxy in front',
  },
  ...backendVariables,
  NODE_ENV: {
    fallback: 'development',
    ...oneOf('development', 'production', 'test'),
    meaning:
      '`production` turns off GraphiQL, introspection, name suggestions, demo data and the demo key',
  },
  DEMO: {
    ...onOff,
    fallback: (textOf) =>
      textOf('PETSTORE_ENVIRONMENT') ||
      !isLoopback(textOf('HOST')) ||
      !new Set([':memory:', backendVariables.DATABASE_URL.fallback]).has(textOf('DATABASE_URL'))
        ? 'off'
        : inDevelopment(textOf),
    meaning:
      'add demo data to an empty database and accept `demo-key` and the keys of `docs/error-states.md`, such as `demo-slow`; defaults to on in development on a loopback host, if `DATABASE_URL` is unset or `:memory:`',
  },
  ...graphqlVariables,
  CORS_ORIGINS: {
    ...listOf(
      'origins such as https://shop.example, without wildcards; in development also http://localhost:* for every port',
      (origin) =>
        /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):\*$/.test(origin) ||
        (/^https?:[^*]+$/.test(origin) && URL.parse(origin)?.origin === origin),
    ),
    fallback: (textOf) =>
      textOf('DEMO') === 'on' && isLoopback(textOf('HOST')) && !textOf('PETSTORE_ENVIRONMENT')
        ? 'http://localhost:*,http://127.0.0.1:*'
        : undefined,
    meaning: 'origins that may call the gateway from a browser; in a demo, those of this machine',
  },
  MAX_REQUESTS_IN_FLIGHT: limit(
    'maxRequestsInFlight',
    '1000',
    'number of requests in flight, half of them reserved for keys that the backend has accepted before; further requests get 503',
  ),
  MAX_REQUESTS_IN_FLIGHT_PER_KEY: {
    ...setting('maxRequestsInFlightPerKey', wholeNumber(1, 1_000_000), (textOf) =>
      String(Math.ceil(Number(textOf('MAX_REQUESTS_IN_FLIGHT')) / 4)),
    ),
    meaning:
      'maximum number of requests in flight per API key; further requests get 429; defaults to a quarter of `MAX_REQUESTS_IN_FLIGHT`',
  },
  RATE_LIMIT_PER_KEY: {
    ...setting('rateLimitPerKey', reloaded(wholeNumber(1, 1_000_000))),
    meaning: 'maximum number of REST calls per second and API key; further requests get 429',
  },
  RATE_LIMIT_STORE: {
    ...setting('rateLimitStore', redisUrl),
    isSecret: true,
    meaning: 'Redis server that makes `RATE_LIMIT_PER_KEY` the rate of all gateways together',
  },
  IDEMPOTENCY_STORE: {
    ...setting('rest.idempotencyStore', redisUrl),
    isSecret: true,
    meaning:
      'Redis server in which all gateways remember writes with an `Idempotency-Key` to a REST service; if unset, they are remembered in memory',
  },
  MAX_EVENT_LOOP_LAG_MS: limit(
    'maxEventLoopLagMs',
    '250',
    'event-loop lag in milliseconds; above it, new requests get 503',
  ),
  LOG_LEVEL: {
    ...setting(
      'logLevel',
      reloaded(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')),
      'info',
    ),
    meaning: 'minimum level to log',
  },
  ADMIN_PORT: {
    ...setting('adminPort', port),
    meaning:
      'separate port for `/metrics`, `/livez` and `/readyz`; if unset, metrics are not served',
  },
  ADMIN_HOST: {
    ...setting(
      'adminHost',
      matching(/^(?!unix:)[\w.:-]+$/, 'a host name or an IP address'),
      (textOf) => (isSocket(textOf('HOST')) ? '127.0.0.1' : textOf('HOST')),
    ),
    meaning: 'address of `ADMIN_PORT`; defaults to `HOST`, or 127.0.0.1 if that is a socket',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    ...baseUrl,
    meaning: 'base URL of an OTLP/HTTP collector for traces; if unset, tracing is off',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    ...baseUrl,
    meaning: 'URL to send traces to, instead of `/v1/traces` below that base URL',
  },
  OTEL_TRACES_EXPORTER: { ...oneOf('otlp', 'none'), meaning: '`none` turns tracing off' },
  OTEL_SDK_DISABLED: {
    ...matching(/^(?:true|false)$/i, 'true or false'),
    meaning: '`true` turns tracing off',
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    ...matching(/^(?:[^,=]+=(?:[^,=%]|%[\da-f]{2})*(?:,|$))+$/i, 'NAME=VALUE,…, percent-encoded'),
    meaning: 'attributes of the process in its traces',
  },
  OTEL_TRACES_SAMPLER: {
    ...setting(
      'tracesSampler',
      matching(
        /^(?:parentbased_)?(?:always_on|always_off|traceidratio)$/,
        'always_on, always_off or traceidratio, also after parentbased_',
      ),
      'parentbased_always_on',
    ),
    meaning:
      'which traces are recorded; `parentbased_` follows the decision of a caller with a trace',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    ...setting('tracesSamplerArg', fraction, '1'),
    meaning: 'fraction of the traces that `traceidratio` records',
  },
  SHUTDOWN_GRACE_MS: {
    ...setting('shutdownGraceMs', wholeNumber(0, 600_000), '10000'),
    meaning: 'time that requests in flight have to finish after SIGTERM, in milliseconds',
  },
  WORKERS: {
    ...setting('workers', processes, '1'),
    meaning:
      'number of processes that share the port; limits, circuit breakers and caches are per process',
  },
} as const satisfies Record<string, Variable>;

/** Returns every variable that the gateway reads, with the files of secrets. */
export function documentedVariables(): [string, Variable][] {
  return Object.entries<Variable>(variables).flatMap(([name, variable]) => {
    const meaning = `file that contains \`${name}\`, instead of that variable`;
    const file: [string, Variable] = [
      `${name}_FILE`,
      { ...matching(/^/, 'the path of a file; line breaks at its end are ignored'), meaning },
    ];
    return variable.isSecret ? [[name, variable], file] : [[name, variable]];
  });
}

/** The parsed value of each variable; undefined if it is unset and has no fallback. */
export type Values = {
  readonly [Name in keyof typeof variables]:
    | Exclude<ReturnType<(typeof variables)[Name]['parse']>, undefined>
    | ((typeof variables)[Name] extends { fallback: string | ((...args: never) => string) }
        ? never
        : undefined);
};
