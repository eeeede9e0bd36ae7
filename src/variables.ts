import { availableParallelism } from 'node:os';

/** One environment variable, as `--help` and docs/configuration.md describe it. */
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

/** Every variable that the gateway reads: the one source of `--help` and of the table in docs/configuration.md. */
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
    meaning: "the built-in backend's database; to serve it in production, it must be set",
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
  DEMO: {
    ...onOff,
    meaning:
      'fill an empty database with demo pets and accept `demo-key`; on in development on a loopback host',
  },
  GRAPHIQL: { ...onOff, meaning: 'serve GraphiQL at `/graphql`; off in production' },
  INTROSPECTION: {
    ...onOff,
    meaning: 'answer introspection and suggest names ("Did you mean"); off in production',
  },
  CORS_ORIGINS: {
    accepts:
      'origins such as https://shop.example, separated by commas; in development also http://localhost:* for every port',
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
    meaning:
      "the manifest of such documents, in the format of codegen's client preset or of Apollo",
    parse: (text: string) => text,
  },
  MAX_FIELDS: limit('1000', 'fields of an operation, fragments spread'),
  MAX_REQUESTS_IN_FLIGHT: limit('1000', 'requests answered at the same time; more get 503'),
  MAX_REQUESTS_IN_FLIGHT_PER_KEY: {
    ...wholeNumber(1, 1_000_000),
    meaning:
      'requests of one key answered at the same time; more get 429; unset, a quarter of `MAX_REQUESTS_IN_FLIGHT`',
  },
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

/** The values of all variables; undefined for one that is unset and has no fallback. */
export type Values = {
  readonly [Name in keyof typeof variables]:
    | Exclude<ReturnType<(typeof variables)[Name]['parse']>, undefined>
    | ((typeof variables)[Name] extends { fallback: string } ? never : undefined);
};

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

/** All origins of this machine, whatever the port. */
const everyPort = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):\*$/;

function parseOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(',').map((origin) => origin.trim());
  const valid = (origin: string) =>
    everyPort.test(origin) || (/^https?:/.test(origin) && URL.parse(origin)?.origin === origin);
  return origins.every(valid) ? origins : undefined;
}

function isDatabaseUrl(text: string): boolean {
  return (
    /^(?:file:[^?]+|:memory:)$/.test(text) ||
    /^postgres(?:ql)?:\/\/(?!.*[?&](?:user|password)=)./i.test(text)
  );
}
