import {
  baseUrl,
  fraction,
  headerNames,
  hostList,
  isLoopback,
  isSocket,
  matching,
  oneOf,
  onOff,
  onOffOrKeys,
  origins,
  paths,
  pemFile,
  port,
  processes,
  proxyUrl,
  redisUrl,
  reloaded,
  type ValueKind,
  wholeNumber,
} from './kinds.ts';

/** An environment variable, with the description that `--help` and docs/configuration.md show. */
export interface Variable extends ValueKind {
  /** The member of the configuration that has its value; none if other variables affect it. */
  readonly setting?: string;
  /** The default, as text or as it follows from other variables; undefined if there is none. */
  readonly fallback?: Fallback;
  readonly meaning: string;
  /** Whether the value contains a secret, which is never shown, and `X_FILE` may name a file that contains it. */
  readonly isSecret?: true;
}

/** Returns the text of a variable, or its default; empty if there is none. */
type TextOf = (name: string) => string;
type Fallback = string | ((textOf: TextOf) => string | undefined);

/**
 * Every variable that has a value of its own; see `documentedVariables`. The file is long because each
 * is declared once, in one list.
 */
export const variables = {
  CONFIG_FILE: {
    ...matching(/^/, 'the path of a file with lines such as LOG_LEVEL=debug'),
    meaning: 'file of variables; those of the environment precede',
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
  PETSTORE_ENVIRONMENT: {
    ...oneOf('production', 'staging'),
    fallback: (textOf) =>
      textOf('PETSTORE_BASE_URL') || textOf('PETSTORE_STAGING_BASE_URL') ? 'production' : undefined,
    meaning: 'which REST service to use; defaults to production if a REST base URL is set',
  },
  PETSTORE_BASE_URL: {
    ...baseUrl,
    meaning:
      'base URL of the production REST service, including `/v1`; without a REST service, the built-in backend serves',
  },
  PETSTORE_STAGING_BASE_URL: {
    ...baseUrl,
    meaning: 'base URL of the staging REST service, including `/v1`',
  },
  MESSAGES_BASE_URL: {
    ...setting('rest.messagesBaseUrl', baseUrl),
    meaning:
      'base URL of `POST /messages`; if unset with a REST service, `sendMessage` returns an error',
  },
  DATABASE_URL: {
    ...setting(
      'builtin.databaseUrl',
      matching(
        /^(?:file:[^?]+$|:memory:$|postgres(?:ql)?:\/\/(?!.*[?&](?:user|password)=).)/,
        'file:PATH, :memory: or postgres://USER:PASSWORD@HOST/NAME',
      ),
      'file:data/pet-store.db',
    ),
    isSecret: true,
    meaning: "the built-in backend's database, which has no default in production",
  },
  DATABASE_POOL_SIZE: {
    ...setting('builtin.poolSize', wholeNumber(1, 1000), '10'),
    meaning: 'maximum number of connections to PostgreSQL per process',
  },
  UPSTREAM_TIMEOUT_MS: {
    ...setting('rest.timeoutMs', wholeNumber(1, 600_000), '10000'),
    meaning:
      'time limit for one REST call in milliseconds, including retries; at most 2 s of it to connect, and half of it until the response headers arrive; also the most that `x-petstore-timeout-ms` of a request may be',
  },
  UPSTREAM_CA_FILE: {
    ...setting('rest.caFile', pemFile),
    meaning: "certificates of the authorities to trust for REST calls, instead of Node's",
  },
  UPSTREAM_CERT_FILE: {
    ...setting('rest.certFile', pemFile),
    meaning: 'client certificate for REST calls, followed by those of its issuers',
  },
  UPSTREAM_KEY_FILE: {
    ...setting('rest.keyFile', pemFile),
    meaning: 'private key of `UPSTREAM_CERT_FILE`, without a passphrase',
  },
  HTTP_PROXY: {
    ...setting('rest.httpProxy', proxyUrl),
    meaning: 'proxy for calls to a REST service with an `http:` URL; also as `http_proxy`',
  },
  HTTPS_PROXY: {
    ...setting('rest.httpsProxy', proxyUrl),
    meaning: 'proxy for calls to a REST service with an `https:` URL; also as `https_proxy`',
  },
  NO_PROXY: {
    ...setting('rest.noProxy', hostList),
    meaning: 'hosts to reach without a proxy, with their subdomains; also as `no_proxy`',
  },
  NODE_ENV: {
    fallback: 'development',
    ...oneOf('development', 'production', 'test'),
    meaning:
      '`production` turns off GraphiQL, introspection, name suggestions, demo data and the demo key',
  },
  DEMO: {
    ...onOff,
    fallback: (textOf) =>
      textOf('PETSTORE_ENVIRONMENT') || !isLoopback(textOf('HOST')) ? 'off' : inDevelopment(textOf),
    meaning:
      'add demo pets to an empty database and accept the key `demo-key`, and those that fail, such as `demo-slow`; defaults to on in development on a loopback host',
  },
  GRAPHIQL: {
    ...setting('graphiql', onOff, inDevelopment),
    meaning: 'serve GraphiQL at `/graphql`; defaults to off in production, on otherwise',
  },
  INTROSPECTION: {
    ...setting('introspection', onOffOrKeys, inDevelopment),
    meaning:
      'allow introspection and suggest names ("Did you mean"); `keys`: allow introspection to accepted API keys, and suggest no names; defaults to off in production, on otherwise',
  },
  EXPLAIN: {
    ...setting('explain', onOff, (textOf) => textOf('GRAPHIQL')),
    meaning:
      'let a request with the header `x-petstore-explain: 1` receive its REST calls in `extensions.calls`; defaults to the value of `GRAPHIQL`',
  },
  CORS_ORIGINS: {
    ...origins,
    meaning: 'origins that may call the gateway from a browser',
  },
  MAX_TOKENS: limit('operationLimits.maxTokens', '1000', 'number of tokens in a GraphQL document'),
  MAX_DEPTH: limit(
    'operationLimits.maxDepth',
    '10',
    'depth of the fields in an operation; introspection is counted separately',
  ),
  MAX_ALIASES: limit('operationLimits.maxAliases', '30', 'number of aliases in an operation'),
  MAX_DIRECTIVES: limit(
    'operationLimits.maxDirectives',
    '50',
    'number of directives in an operation',
  ),
  MAX_ROOT_FIELDS: limit(
    'operationLimits.maxRootFields',
    '20',
    'number of root fields and deferred fragments in an operation',
  ),
  PERSISTED_DOCUMENTS: {
    ...setting('persistedDocuments.mode', oneOf('off', 'allow', 'audit', 'only'), 'off'),
    meaning:
      '`allow`: accept persisted documents by their hash, and any other document; `audit`: the same, and log those that `only` would refuse; `only`: accept persisted documents only',
  },
  PERSISTED_DOCUMENTS_FILE: {
    ...setting('persistedDocuments.files', paths),
    meaning: "manifests of persisted documents, in the format of codegen's client preset or Apollo",
  },
  MAX_FIELDS: limit(
    'operationLimits.maxFields',
    '1000',
    'number of fields in an operation, with fragments expanded',
  ),
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
  LOG_CREDENTIAL: {
    ...setting('rest.logCredential', oneOf('off', 'hash'), 'off'),
    meaning: '`hash`: with a REST service, log a hash of the API key as `credential`',
  },
  LOG_CREDENTIAL_SECRET: {
    ...setting('rest.logCredentialSecret', matching(/^.{16}/s, 'at least 16 characters')),
    isSecret: true,
    meaning: 'secret for `LOG_CREDENTIAL=hash`, the same for all gateways',
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
    ...setting('otlpEndpoint', baseUrl),
    meaning: 'base URL of an OTLP/HTTP collector for traces; if unset, tracing is off',
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
  COALESCE_READS: {
    ...setting('rest.shareReads', onOff, 'on'),
    meaning: 'share one REST call among equal reads in flight of the same API key',
  },
  FORWARD_HEADERS: {
    ...setting('forwardHeaders', headerNames),
    meaning: 'headers to pass on to the REST service',
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

/**
 * Returns every variable that the gateway reads, with the files of secrets. `--help` is generated from
 * it, and docs/configuration.md from the list above.
 */
export function documentedVariables(): [string, Variable][] {
  return Object.entries<Variable>(variables).flatMap(([name, variable]) => {
    const meaning = `file that contains \`${name}\`, instead of that variable`;
    const file: [string, Variable] = [
      `${name}_FILE`,
      { ...matching(/^/, 'the path of a file; a newline at its end is ignored'), meaning },
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

function inDevelopment(textOf: TextOf): 'on' | 'off' {
  return textOf('NODE_ENV') === 'production' ? 'off' : 'on';
}

/** Puts the value of a variable into the configuration. */
function setting<
  const S extends string,
  K extends ValueKind,
  const F extends Fallback | undefined = undefined,
>(path: S, kind: K, fallback?: F) {
  return { ...kind, setting: path, fallback: fallback as F };
}

function limit<const S extends string>(path: S, fallback: string, what: string) {
  return { ...setting(path, wholeNumber(1, 1_000_000), fallback), meaning: `maximum ${what}` };
}
