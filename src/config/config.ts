import {
  defaultOf,
  describeValue,
  type Environment,
  readFiles,
  textOf,
  unknownVariables,
} from './environment.ts';
import { isLoopback } from './kinds.ts';
import type { Variable } from './variable.ts';
import { type Values, variables } from './variables.ts';

/** The settings of a section such as `operationLimits.`, or of none, by their names in it. */
type Settings<Section extends string = ''> = {
  readonly [Name in keyof Values as (typeof variables)[Name] extends {
    setting: `${Section}${infer Key}`;
  }
    ? Exclude<Key, `${string}.${string}`>
    : never]: Values[Name];
};

/** The validated, frozen configuration. Times are in milliseconds. */
export type Config = ReturnType<typeof loadConfig>;

/** The environment contains invalid values; the message lists all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads an environment such as `process.env`. @throws ConfigError that lists every problem. */
export function loadConfig(given: Environment) {
  const problems: string[] = [];
  const env = readFiles(given, problems);
  const values = readValues(env, problems);
  const backend = backendOf(values, values.DEMO ? 'demo-key' : undefined);
  return Object.freeze({
    ...settingsOf('', values),
    backend: Object.freeze(backend),
    // Otherwise pages of other sites could use the demo.
    onlyLoopbackHosts: backend.kind === 'builtin' && values.DEMO && isLoopback(values.HOST),
    corsOrigins: values.CORS_ORIGINS ?? [],
    maxTimeoutMs: values.UPSTREAM_TIMEOUT_MS,
    tracesUrl: tracesUrlOf(values),
    operationLimits: settingsOf('operationLimits.', values),
    persistedDocuments: settingsOf('persistedDocuments.', values),
    /** Probably misspelled, so a start logs them. */
    unknownVariables: unknownVariables(env),
  });
}

/** Logs the variables that are probably misspelled. */
export function warnOfUnknown(
  { unknownVariables: variables = [] }: Partial<Pick<Config, 'unknownVariables'>>,
  log: { warn(entry: object, message: string): void },
): void {
  if (variables.length === 0) return;
  log.warn({ variables }, 'ignoring unknown variables; check their spelling');
}

/** Logs the variables that are probably misspelled, and those of the stores that several workers lack. */
export function warnAtStart(config: Config, log: Parameters<typeof warnOfUnknown>[1]): void {
  warnOfUnknown(config, log);
  const { backend, rateLimitPerKey, rateLimitStore } = config;
  const isOnce = backend.kind !== 'rest' || backend.honouring === 'on';
  const variables = [];
  if (!isOnce && !backend.idempotencyStore) variables.push('IDEMPOTENCY_STORE');
  if (rateLimitPerKey && !rateLimitStore) variables.push('RATE_LIMIT_STORE');
  if (config.workers === 1 || variables.length === 0) return;
  log.warn({ variables }, 'without these variables, each worker limits and remembers alone');
}

/** @throws ConfigError if variables for HTTPS are misspelled, so that plain HTTP would be served. */
export function requireTls({ tlsCertFile, unknownVariables: unknown }: Config): void {
  const misspelled = unknown.filter((name) => /\bTLS_/i.test(name));
  if (tlsCertFile !== undefined || misspelled.length === 0) return;
  throw new ConfigError(
    `Expected TLS_CERT_FILE and TLS_KEY_FILE, received ${misspelled.join(', ')}. Unset them to serve plain HTTP.`,
  );
}

function readValues(env: Environment, problems: string[]): Values {
  const read = ([name, { parse, accepts, isSecret }]: [string, Variable]) => {
    const text = textOf(env, name);
    const value = text ? parse(text) : undefined;
    if (text && value === undefined) {
      const file = isSecret && env[`${name}_FILE`];
      const received = describeValue(text, isSecret) + (file ? ` in ${file}` : '');
      problems.push(`${name}: expected ${accepts}, received ${received}`);
    }
    const standard = defaultOf(env, name);
    return [name, value ?? (standard ? parse(standard) : undefined)];
  };
  const values: Values = Object.fromEntries(Object.entries<Variable>(variables).map(read));
  // A variable with an invalid value has its default here.
  const nameOf = (problem: string) => problem.split(':')[0];
  const invalid = new Set(problems.map(nameOf));
  problems.push(...contradictions(values, env).filter((one) => !invalid.has(nameOf(one))));
  if (problems.length === 0) return values;
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  const list = problems.map((problem) => `  - ${problem}`).join('\n');
  throw new ConfigError(`The configuration has ${count}:\n${list}`);
}

function* contradictions(values: Values, env: Environment): Generator<string> {
  const { PERSISTED_DOCUMENTS: mode, PERSISTED_DOCUMENTS_FILE: file } = values;
  const inProduction = values.NODE_ENV === 'production';
  const url = baseUrlVariable(values);
  if (url && !env[url]) {
    yield `${url}: expected the base URL of the REST service, because PETSTORE_ENVIRONMENT is ${env['PETSTORE_ENVIRONMENT'] || 'unset, which means production'}; received nothing`;
  }
  if (!url && inProduction && !(env['DATABASE_URL'] || env['DATABASE_URL_FILE']) && !values.DEMO) {
    const ignored = unknownVariables(env).map((name) => `; ${name} is not a known variable`);
    yield `DATABASE_URL: expected the built-in backend's database, or a REST service in PETSTORE_BASE_URL, because NODE_ENV is production; received neither${ignored.join('')}`;
  }
  if (mode === 'off' && file) {
    yield 'PERSISTED_DOCUMENTS: expected allow, audit or only, because PERSISTED_DOCUMENTS_FILE is set; received off';
  }
  if (values.ADMIN_PORT && values.ADMIN_PORT === values.PORT && values.ADMIN_HOST === values.HOST) {
    yield `ADMIN_PORT: expected another port than PORT, received ${values.ADMIN_PORT}`;
  }
  const { MAX_REQUESTS_IN_FLIGHT: total, MAX_REQUESTS_IN_FLIGHT_PER_KEY: perKey } = values;
  if (perKey > total) {
    yield `MAX_REQUESTS_IN_FLIGHT_PER_KEY: expected at most MAX_REQUESTS_IN_FLIGHT, which is ${total}; received ${perKey}`;
  }
  const needsManifest = mode === 'only' || mode === 'audit';
  const required = [
    ['PERSISTED_DOCUMENTS_FILE', needsManifest, `PERSISTED_DOCUMENTS is ${mode}`],
    ['ADMIN_PORT', env['ADMIN_HOST'], 'ADMIN_HOST is set'],
    ['TLS_CERT_FILE', values.TLS_KEY_FILE, 'TLS_KEY_FILE is set'],
    ['TLS_KEY_FILE', values.TLS_CERT_FILE, 'TLS_CERT_FILE is set'],
    ['UPSTREAM_CERT_FILE', values.UPSTREAM_KEY_FILE, 'UPSTREAM_KEY_FILE is set'],
    ['UPSTREAM_KEY_FILE', values.UPSTREAM_CERT_FILE, 'UPSTREAM_CERT_FILE is set'],
    ['RATE_LIMIT_PER_KEY', values.RATE_LIMIT_STORE, 'RATE_LIMIT_STORE is set'],
    ['LOG_CREDENTIAL_SECRET', values.LOG_CREDENTIAL === 'hash', 'LOG_CREDENTIAL is hash'],
  ] as const;
  for (const [name, isRequired, reason] of required) {
    if (!isRequired || values[name] !== undefined) continue;
    yield `${name}: expected ${variables[name].accepts}, because ${reason}; received nothing`;
  }
  if (values.LOG_CREDENTIAL === 'hash' && !url) {
    yield 'LOG_CREDENTIAL: expected off, because the built-in backend logs accounts; received hash';
  }
  const everyPort = values.CORS_ORIGINS?.find((origin) => origin.endsWith(':*'));
  if (everyPort && inProduction && env['CORS_ORIGINS']) {
    yield `CORS_ORIGINS: expected origins with their ports, because NODE_ENV is production; received ${everyPort}`;
  }
  if (!url && values.WORKERS > 1 && values.DATABASE_URL === ':memory:') {
    yield 'WORKERS: expected 1, because processes cannot share an in-memory database; set DATABASE_URL to a file or a server';
  }
}

function baseUrlVariable(values: Values) {
  const { PETSTORE_ENVIRONMENT: environment } = values;
  if (environment === 'staging') return 'PETSTORE_STAGING_BASE_URL';
  return environment && 'PETSTORE_BASE_URL';
}

/** Returns the URL to send traces to, as OpenTelemetry specifies; undefined if tracing is off. */
function tracesUrlOf(values: Values): URL | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = values;
  const isDisabled = values.OTEL_SDK_DISABLED?.toLowerCase() === 'true';
  if (isDisabled || values.OTEL_TRACES_EXPORTER === 'none') return undefined;
  return own ?? (base && new URL(`${base.href.replace(/\/+$/, '')}/v1/traces`));
}

function settingsOf<const Section extends string>(
  section: Section,
  values: Values,
): Settings<Section> {
  const settings = Object.entries<Variable>(variables).flatMap(([name, { setting }]) =>
    setting?.replace(/\w+$/, '') === section
      ? [[setting.slice(section.length), values[name as keyof Values]]]
      : [],
  );
  return Object.freeze(Object.fromEntries(settings));
}

/** Returns a REST service or the built-in backend. A demo accepts this key, and adds data. */
function backendOf(values: Values, demoKey: string | undefined) {
  const variable = baseUrlVariable(values);
  const baseUrl = variable && values[variable];
  const demo = { demoKey, timeoutMs: values.UPSTREAM_TIMEOUT_MS };
  if (!baseUrl) return { kind: 'builtin' as const, ...settingsOf('builtin.', values), ...demo };
  return { kind: 'rest' as const, baseUrl, ...settingsOf('rest.', values) };
}
