import { type Values, type Variable, variables } from './variables.ts';

/** Everything that the environment can set, checked and frozen. Times are in milliseconds. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly backend: BackendConfig;
  /** Answer only requests whose Host is this machine: a demo that pages of other sites may not use. */
  readonly onlyLoopbackHosts: boolean;
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
  /** Of them, those of one key; more of it are refused with 429. */
  readonly maxRequestsInFlightPerKey: number;
  /** How far the event loop may lag, in milliseconds, before new requests are turned away. */
  readonly maxEventLoopLagMs: number;
  readonly logLevel: Values['LOG_LEVEL'];
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

/**
 * Reads the configuration out of an environment such as `process.env`; empty counts as unset.
 * @throws ConfigError that names every bad variable, what was found and what is accepted.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const values = readValues(env, problems);
  const backend = readBackend(values, problems);
  const isOnPurpose =
    values.NODE_ENV !== 'production' || env['DATABASE_URL'] || values.DEMO === 'on';
  if (backend?.kind === 'builtin' && !isOnPurpose) {
    const found = unknownVariables(env).map((name) => `, but ${name}, which is not read`);
    problems.push(
      `DATABASE_URL: expected the database of the built-in backend, or PETSTORE_BASE_URL to be the address of the REST service, because NODE_ENV is production; found neither${found.join('')}`,
    );
  }
  const persistedDocuments = readPersistedDocuments(values, problems);
  const corsOrigins = values.CORS_ORIGINS ?? [];
  const everyPort = corsOrigins.find((origin) => origin.endsWith(':*'));
  if (everyPort && values.NODE_ENV === 'production') {
    problems.push(
      `CORS_ORIGINS: expected origins with their ports, because NODE_ENV is production; found ${everyPort}`,
    );
  }
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
    onlyLoopbackHosts:
      backend.kind === 'builtin' && backend.demoKey !== undefined && isLoopback(values.HOST),
    graphiql: values.GRAPHIQL ? values.GRAPHIQL === 'on' : development,
    introspection: values.INTROSPECTION ? values.INTROSPECTION === 'on' : development,
    corsOrigins,
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
    maxRequestsInFlightPerKey:
      values.MAX_REQUESTS_IN_FLIGHT_PER_KEY ?? Math.ceil(values.MAX_REQUESTS_IN_FLIGHT / 4),
    maxEventLoopLagMs: values.MAX_EVENT_LOOP_LAG_MS,
    logLevel: values.LOG_LEVEL,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    adminPort: values.ADMIN_PORT,
    coalesceReads: values.COALESCE_READS === 'on',
    shutdownGraceMs: values.SHUTDOWN_GRACE_MS,
    workers: values.WORKERS,
  });
}

/**
 * The variables that look like ours and are not read, such as `PETSTORE_BASE_URI`; misspelt, most
 * likely. Those that Kubernetes sets for a service named `petstore…` are not meant for us.
 */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => /^PETSTORE_/i.test(name) && !known.has(name) && !ofKubernetes.test(name),
  );
}

/** `PETSTORE_API_KEY` is read by `check-service`. */
const known = new Set([...Object.keys(variables), 'PETSTORE_API_KEY']);

/** The variables of a service, as Kubernetes and Docker's links name them. */
const ofKubernetes =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?$/;

/** Name, effective value and origin of every variable, as `--print-config` shows them. */
export function configRows(
  env: Readonly<Record<string, string | undefined>>,
  { backend, graphiql, introspection, workers }: Config,
): string[][] {
  const onOrOff = (isOn: boolean) => (isOn ? 'on' : 'off');
  const effective: Readonly<Record<string, string | undefined>> = {
    PETSTORE_ENVIRONMENT: backend.kind === 'rest' ? backend.environment : undefined,
    DEMO: onOrOff(backend.kind === 'builtin' && backend.demoKey !== undefined),
    GRAPHIQL: onOrOff(graphiql),
    INTROSPECTION: onOrOff(introspection),
    WORKERS: String(workers),
  };
  const rows = Object.entries<Variable>(variables).map(([name, { fallback }]) => {
    const text = effective[name] ?? (env[name] || fallback || '');
    const origin = env[name] ? 'environment' : text === '' ? 'unset' : 'default';
    return [name, text.replace(/\/\/.*@/, '//***@'), origin];
  });
  // Their values are not shown: they may hold a secret.
  const unknown = unknownVariables(env).map((name) => [name, '', 'unknown, not read']);
  return [...rows, ...unknown];
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
    const isLocal = values.NODE_ENV !== 'production' && isLoopback(values.HOST);
    const demo = values.DEMO ? values.DEMO === 'on' : isLocal;
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

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A rejected address may carry a password or a key; what could be one is not repeated. */
function shown(text: string): string {
  return /[@?#]/.test(text)
    ? 'a value that is not shown, for it may hold a secret'
    : JSON.stringify(text);
}
