import { availableParallelism } from 'node:os';

/** Everything that the environment can set, checked and frozen. Times are in milliseconds. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly backend: BackendConfig;
  readonly graphiql: boolean;
  readonly introspection: boolean;
  readonly corsOrigins: readonly string[];
  /** What one operation may cost at most. */
  readonly operationLimits: {
    readonly maxTokens: number;
    readonly maxDepth: number;
    readonly maxAliases: number;
    readonly maxDirectives: number;
    readonly maxRootFields: number;
    readonly maxFields: number;
  };
  /** `off`, or documents by their hash beside others (`allow`) or instead of them (`only`). */
  readonly persistedDocuments: {
    readonly mode: 'off' | 'allow' | 'only';
    readonly file: string | undefined;
  };
  /** Requests that are answered at the same time; more are turned away. */
  readonly maxRequestsInFlight: number;
  /** How far the event loop may lag, in milliseconds, before new requests are turned away. */
  readonly maxEventLoopLagMs: number;
  readonly logLevel: (typeof logLevels)[number];
  /** Where traces are sent, OTLP over HTTP; undefined for nowhere. */
  readonly otlpEndpoint: URL | undefined;
  readonly adminPort: number | undefined;
  /** Answer equal reads in flight with one call. */
  readonly coalesceReads: boolean;
  readonly shutdownGraceMs: number;
  /** How many processes serve. */
  readonly workers: number;
}

/** The REST service at two base addresses, or the built-in backend on a database. */
export type BackendConfig =
  | {
      readonly kind: 'rest';
      readonly environment: 'production' | 'staging';
      readonly baseUrl: URL;
      readonly messagesBaseUrl: URL | undefined;
      readonly timeoutMs: number;
    }
  | {
      readonly kind: 'builtin';
      readonly databaseUrl: string;
      /** Set for a demo: an empty database is filled, and this key is accepted. */
      readonly demoKey: string | undefined;
    };

/** The environment holds values that can't be used; the message names all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** One environment variable, as `--help` and the README describe it. */
export interface Variable<T = unknown> {
  /** The text that an unset or empty variable stands for; undefined means "unset". */
  readonly fallback?: string;
  readonly accepts: string;
  readonly meaning: string;
  /** The value, or undefined when the text is not acceptable. */
  readonly parse: (text: string) => T | undefined;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const onOff = oneOf('on', 'off');
const baseUrl = {
  accepts: 'an http or https address without credentials, query or fragment',
  parse: parseBaseUrl,
};

/** Every variable that the gateway reads: the one source of `--help` and of the README's table. */
export const variables = {
  PORT: {
    fallback: '4000',
    ...wholeNumber(0, 65_535),
    meaning: 'the port to listen on; 0 takes a free one',
  },
  HOST: {
    fallback: '127.0.0.1',
    accepts: 'a host name or an IP address',
    meaning: 'the address to listen on',
    parse: (text: string) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  },
  PETSTORE_ENVIRONMENT: {
    ...oneOf('production', 'staging'),
    meaning: 'which REST address is used; production when an address is set',
  },
  PETSTORE_BASE_URL: {
    ...baseUrl,
    meaning:
      'the production REST service, `/v1` included; with no address set the built-in backend serves',
  },
  PETSTORE_STAGING_BASE_URL: {
    ...baseUrl,
    meaning: 'the staging REST service, `/v1` included',
  },
  MESSAGES_BASE_URL: {
    ...baseUrl,
    meaning: 'where `POST /messages` lives; without it, `sendMessage` over REST answers an error',
  },
  DATABASE_URL: {
    fallback: 'file:data/pet-store.db',
    accepts: 'file:PATH, :memory: or postgres://USER:PASSWORD@HOST/NAME',
    meaning: "the built-in backend's database",
    parse: (text: string) => (isDatabaseUrl(text) ? text : undefined),
  },
  UPSTREAM_TIMEOUT_MS: {
    fallback: '10000',
    ...wholeNumber(1, 600_000),
    meaning:
      'the total time of one REST call, retries included; 2 s of it to connect, half of it until headers come',
  },
  NODE_ENV: {
    fallback: 'development',
    ...oneOf('development', 'production', 'test'),
    meaning:
      'production turns off GraphiQL, introspection, suggestions, demo data and the demo key',
  },
  GRAPHIQL: { ...onOff, meaning: 'serve GraphiQL at `/graphql`; off in production' },
  INTROSPECTION: {
    ...onOff,
    meaning: 'answer introspection and suggest names ("Did you mean"); off in production',
  },
  CORS_ORIGINS: {
    accepts: 'origins such as https://shop.example, separated by commas',
    meaning: 'origins whose pages may call the gateway from a browser; none by default',
    parse: parseOrigins,
  },
  MAX_TOKENS: limit('1000', 'tokens of a GraphQL document'),
  MAX_DEPTH: limit('10', 'levels of fields of an operation; introspection is counted apart'),
  MAX_ALIASES: limit('30', 'aliases of an operation'),
  MAX_DIRECTIVES: limit('50', 'directives of an operation'),
  MAX_ROOT_FIELDS: limit('20', 'root fields of an operation, each of which is a REST call'),
  PERSISTED_DOCUMENTS: {
    fallback: 'off',
    ...oneOf('off', 'allow', 'only'),
    meaning: 'answer documents by their hash: beside any other document (allow) or no other (only)',
  },
  PERSISTED_DOCUMENTS_FILE: {
    accepts: 'the path of a JSON file',
    meaning: "the manifest of such documents, as codegen's client preset writes it",
    parse: (text: string) => text,
  },
  MAX_FIELDS: limit('1000', 'fields of an operation, fragments spread'),
  MAX_REQUESTS_IN_FLIGHT: limit('1000', 'requests answered at the same time; more get 503'),
  MAX_EVENT_LOOP_LAG_MS: limit('250', 'lag of the event loop, in milliseconds; beyond it, 503'),
  LOG_LEVEL: { fallback: 'info', ...oneOf(...logLevels), meaning: 'the least level to log' },
  ADMIN_PORT: {
    ...wholeNumber(0, 65_535),
    meaning: 'a port of its own for `/metrics`, `/livez` and `/readyz`; unset, no metrics',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    ...baseUrl,
    meaning: 'where traces are sent, OTLP over HTTP; unset, none are made',
  },
  COALESCE_READS: {
    fallback: 'on',
    ...onOff,
    meaning: 'answer equal reads in flight, of the same key, with one REST call',
  },
  SHUTDOWN_GRACE_MS: {
    fallback: '10000',
    ...wholeNumber(0, 600_000),
    meaning: 'how long requests in flight may finish after SIGTERM, in milliseconds',
  },
  WORKERS: {
    fallback: '1',
    accepts: 'a whole number from 1 to 64, or auto for one a processor',
    meaning: 'how many processes share the port; limits, breakers and caches are of each',
    parse: (text: string) =>
      text === 'auto' ? availableParallelism() : wholeNumber(1, 64).parse(text),
  },
} satisfies Record<string, Variable>;

type Values = {
  readonly [Name in keyof typeof variables]:
    | Exclude<ReturnType<(typeof variables)[Name]['parse']>, undefined>
    | ((typeof variables)[Name] extends { fallback: string } ? never : undefined);
};

/**
 * Reads the configuration out of an environment such as `process.env`; empty counts as unset.
 * @throws ConfigError that names every bad variable, what was found and what is accepted.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const values = readValues(env, problems);
  const backend = readBackend(values, problems);
  const persistedDocuments = readPersistedDocuments(values, problems);
  if (values.WORKERS > 1 && backend?.kind === 'builtin' && backend.databaseUrl === ':memory:') {
    problems.push(
      'WORKERS: expected 1, because a database in memory belongs to one process; set DATABASE_URL to a file or a server',
    );
  }
  if (problems.length > 0 || backend === undefined) {
    throw new ConfigError(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems
        .map((problem) => `  - ${problem}`)
        .join('\n')}`,
    );
  }
  const development = values.NODE_ENV !== 'production';
  return Object.freeze({
    host: values.HOST,
    port: values.PORT,
    backend: Object.freeze(backend),
    graphiql: values.GRAPHIQL ? values.GRAPHIQL === 'on' : development,
    introspection: values.INTROSPECTION ? values.INTROSPECTION === 'on' : development,
    corsOrigins: values.CORS_ORIGINS ?? [],
    operationLimits: Object.freeze({
      maxTokens: values.MAX_TOKENS,
      maxDepth: values.MAX_DEPTH,
      maxAliases: values.MAX_ALIASES,
      maxDirectives: values.MAX_DIRECTIVES,
      maxRootFields: values.MAX_ROOT_FIELDS,
      maxFields: values.MAX_FIELDS,
    }),
    persistedDocuments: Object.freeze(persistedDocuments),
    maxRequestsInFlight: values.MAX_REQUESTS_IN_FLIGHT,
    maxEventLoopLagMs: values.MAX_EVENT_LOOP_LAG_MS,
    logLevel: values.LOG_LEVEL,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    adminPort: values.ADMIN_PORT,
    coalesceReads: values.COALESCE_READS === 'on',
    shutdownGraceMs: values.SHUTDOWN_GRACE_MS,
    workers: values.WORKERS,
  });
}

/** Name, effective value and origin of every variable, as `--print-config` shows them. */
export function configRows(env: Readonly<Record<string, string | undefined>>): string[][] {
  return Object.entries<Variable>(variables).map(([name, { fallback }]) => {
    const text = env[name] || fallback || '';
    const origin = env[name] ? 'environment' : fallback === undefined ? 'unset' : 'default';
    return [name, text.replace(/\/\/.*@/, '//***@'), origin];
  });
}

function readValues(env: Readonly<Record<string, string | undefined>>, problems: string[]): Values {
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries<Variable>(variables)) {
    const text = env[name] || variable.fallback;
    if (text === undefined) continue;
    values[name] = variable.parse(text);
    if (values[name] === undefined) {
      problems.push(`${name}: expected ${variable.accepts}, found ${shown(text)}`);
    }
  }
  return values as Values;
}

function readBackend(values: Values, problems: string[]): BackendConfig | undefined {
  const { PETSTORE_BASE_URL: production, PETSTORE_STAGING_BASE_URL: staging } = values;
  if (!production && !staging && !values.PETSTORE_ENVIRONMENT) {
    const demo = values.NODE_ENV !== 'production' && isLoopback(values.HOST);
    return {
      kind: 'builtin',
      databaseUrl: values.DATABASE_URL,
      demoKey: demo ? 'demo-key' : undefined,
    };
  }
  const environment = values.PETSTORE_ENVIRONMENT ?? 'production';
  const variable = environment === 'staging' ? 'PETSTORE_STAGING_BASE_URL' : 'PETSTORE_BASE_URL';
  const url = values[variable];
  if (url === undefined) {
    if (!problems.some((problem) => problem.startsWith(variable))) {
      problems.push(
        `${variable}: expected the address of the REST service, because PETSTORE_ENVIRONMENT is ${values.PETSTORE_ENVIRONMENT ?? 'unset, which means production'}; found nothing`,
      );
    }
    return undefined;
  }
  return {
    kind: 'rest',
    environment,
    baseUrl: url,
    messagesBaseUrl: values.MESSAGES_BASE_URL,
    timeoutMs: values.UPSTREAM_TIMEOUT_MS,
  };
}

function readPersistedDocuments(
  { PERSISTED_DOCUMENTS: mode, PERSISTED_DOCUMENTS_FILE: file }: Values,
  problems: string[],
): Config['persistedDocuments'] {
  if (mode === 'only' && !file) {
    problems.push(
      'PERSISTED_DOCUMENTS_FILE: expected the path of a manifest, because PERSISTED_DOCUMENTS is only; found nothing',
    );
  }
  if (mode === 'off' && file) {
    problems.push(
      'PERSISTED_DOCUMENTS: expected allow or only, because PERSISTED_DOCUMENTS_FILE is set; found off',
    );
  }
  return { mode, file };
}

function oneOf<const T extends string>(...accepted: readonly T[]) {
  return {
    accepts: accepted.join(', ').replace(/, ([^,]*)$/, ' or $1'),
    parse: (text: string): T | undefined => accepted.find((value) => value === text),
  };
}

function wholeNumber(minimum: number, maximum: number) {
  return {
    accepts: `a whole number from ${minimum} to ${maximum}`,
    parse(text: string): number | undefined {
      const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

function limit(fallback: string, what: string) {
  return { fallback, ...wholeNumber(1, 1_000_000), meaning: `the most ${what}` };
}

function parseBaseUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username || url.password || /[?#]/.test(text) ? undefined : url;
}

function parseOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(',').map((origin) => origin.trim());
  const valid = (origin: string) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin;
  return origins.every(valid) ? origins : undefined;
}

function isDatabaseUrl(text: string): boolean {
  return (
    /^(?:file:[^?]+|:memory:)$/.test(text) ||
    /^postgres(?:ql)?:\/\/(?!.*[?&](?:user|password)=)./i.test(text)
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A rejected address may carry a password or a key; what could be one is not repeated. */
function shown(text: string): string {
  return /[@?#]/.test(text)
    ? 'a value that is not shown, for it may hold a secret'
    : JSON.stringify(text);
}
