import { type Values, type Variable, variables } from './variables.ts';

/** The validated, frozen configuration. Times are in milliseconds. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly backend: BackendConfig;
  /** Accept only requests with a loopback Host, so that pages of other sites can't use the demo. */
  readonly onlyLoopbackHosts: boolean;
  readonly graphiql: boolean;
  readonly introspection: boolean;
  readonly corsOrigins: readonly string[];
  /** Limits for a single operation. */
  readonly operationLimits: {
    readonly maxTokens: number;
    readonly maxDepth: number;
    readonly maxAliases: number;
    readonly maxDirectives: number;
    readonly maxRootFields: number;
    readonly maxFields: number;
  };
  /** `allow` accepts persisted and other documents, `only` rejects all others. */
  readonly persistedDocuments: {
    readonly mode: 'off' | 'allow' | 'only';
    readonly file: string | undefined;
  };
  /** Maximum number of requests in flight; further requests get 503. */
  readonly maxRequestsInFlight: number;
  /** Maximum number of requests in flight per API key; further requests get 429. */
  readonly maxRequestsInFlightPerKey: number;
  /** Event-loop lag in milliseconds above which new requests get 503. */
  readonly maxEventLoopLagMs: number;
  readonly logLevel: Values['LOG_LEVEL'];
  /** Base URL of an OTLP/HTTP collector; undefined turns tracing off. */
  readonly otlpEndpoint: URL | undefined;
  readonly adminPort: number | undefined;
  /** Share one call among equal reads in flight. */
  readonly coalesceReads: boolean;
  readonly shutdownGraceMs: number;
  /** Number of processes that share the port. */
  readonly workers: number;
}

/** Either a REST service, at one or two base URLs, or the built-in backend with its database. */
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
      /** Set only for a demo, which accepts this key and fills an empty database with pets. */
      readonly demoKey: string | undefined;
    };

/** The environment contains invalid values; the message lists all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the configuration from an environment such as `process.env`; an empty variable counts as
 * unset.
 * @throws ConfigError that lists every invalid variable, its value and what is accepted.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const values = readValues(env, problems);
  const backend = readBackend(values, problems);
  const isIntended =
    values.NODE_ENV !== 'production' || env['DATABASE_URL'] || values.DEMO === 'on';
  if (backend?.kind === 'builtin' && !isIntended) {
    const ignored = unknownVariables(env).map((name) => `; ${name} is not a known variable`);
    problems.push(
      `DATABASE_URL: expected the built-in backend's database, or a REST service in PETSTORE_BASE_URL, because NODE_ENV is production; received neither${ignored.join('')}`,
    );
  }
  const persistedDocuments = readPersistedDocuments(values, problems);
  const corsOrigins = values.CORS_ORIGINS ?? [];
  const everyPort = corsOrigins.find((origin) => origin.endsWith(':*'));
  if (everyPort && values.NODE_ENV === 'production') {
    problems.push(
      `CORS_ORIGINS: expected origins with their ports, because NODE_ENV is production; received ${everyPort}`,
    );
  }
  if (values.WORKERS > 1 && backend?.kind === 'builtin' && backend.databaseUrl === ':memory:') {
    problems.push(
      'WORKERS: expected 1, because processes cannot share an in-memory database; set DATABASE_URL to a file or a server',
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
 * Returns the `PETSTORE_` variables that the gateway doesn't know, such as a misspelled
 * `PETSTORE_BASE_URI`, without those that Kubernetes sets for a service named `petstore…`.
 */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => /^PETSTORE_/i.test(name) && !known.has(name) && !kubernetesVariable.test(name),
  );
}

/** Includes `PETSTORE_API_KEY`, which `check-service` reads. */
const known = new Set([...Object.keys(variables), 'PETSTORE_API_KEY']);

/** The variables that Kubernetes and Docker links set for a service. */
const kubernetesVariable =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?$/;

/** Returns the name, effective value and source of every variable, for `--print-config`. */
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
    const source = env[name] ? 'environment' : text === '' ? 'unset' : 'default';
    return [name, text.replace(/\/\/.*@/, '//***@'), source];
  });
  // The values of unknown variables may be secrets, so they are left out.
  const unknown = unknownVariables(env).map((name) => [name, '', 'unknown, ignored']);
  return [...rows, ...unknown];
}

function readValues(env: Readonly<Record<string, string | undefined>>, problems: string[]): Values {
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries<Variable>(variables)) {
    const text = env[name] || variable.fallback;
    if (text === undefined) continue;
    values[name] = variable.parse(text);
    if (values[name] === undefined) {
      problems.push(`${name}: expected ${variable.accepts}, received ${describeValue(text)}`);
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
        `${variable}: expected the base URL of the REST service, because PETSTORE_ENVIRONMENT is ${values.PETSTORE_ENVIRONMENT ?? 'unset, which means production'}; received nothing`,
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
      'PERSISTED_DOCUMENTS_FILE: expected the path of a manifest, because PERSISTED_DOCUMENTS is only; received nothing',
    );
  }
  if (mode === 'off' && file) {
    problems.push(
      'PERSISTED_DOCUMENTS: expected allow or only, because PERSISTED_DOCUMENTS_FILE is set; received off',
    );
  }
  return { mode, file };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Quotes an invalid value for an error message, unless it may contain a password or a key. */
export function describeValue(text: string): string {
  return /[@?#]/.test(text)
    ? 'a value that is hidden because it may contain a credential'
    : JSON.stringify(text);
}
