import {
  baseUrl,
  databaseUrl,
  headerNames,
  matching,
  oneOf,
  onOff,
  pemFile,
  proxyUrl,
  wholeNumber,
} from './kinds.ts';
import { setting, type Variable } from './variable.ts';

/** Which backend serves, and how it is called. */
export const backendVariables = {
  PETSTORE_ENVIRONMENT: {
    ...oneOf('production', 'staging'),
    fallback: (textOf) =>
      textOf('PETSTORE_BASE_URL') || textOf('PETSTORE_STAGING_BASE_URL') ? 'production' : undefined,
    meaning: 'which REST service to use; defaults to production if a REST base URL is set',
  },
  PETSTORE_BASE_URL: {
    ...baseUrl,
    meaning:
      'base URL of the production REST service, including `/v1`; without a REST service, the built-in backend is used',
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
    ...setting('builtin.databaseUrl', databaseUrl, 'file:data/pet-store.db'),
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
      'time limit for one REST call in milliseconds, including retries; at most 2 s of it to connect, and half of it until the response headers arrive; also the most that `x-petstore-timeout-ms` of a request can ask for',
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
    ...setting('rest.noProxy', {
      accepts: 'comma-separated host names or IP addresses, each with an optional port, or *',
      parse: (text: string) => text.split(/[\s,]+/).filter(Boolean),
    }),
    meaning: 'hosts to reach without a proxy, with their subdomains; also as `no_proxy`',
  },
  COALESCE_READS: {
    ...setting('rest.shareReads', onOff, 'on'),
    meaning: 'share one REST call among equal reads in flight of the same API key',
  },
  UPSTREAM_IDEMPOTENCY: {
    ...setting('rest.honouring', oneOf('off', 'on', 'pets', 'messages'), 'off'),
    meaning:
      'send an `Idempotency-Key` with each write, and repeat writes whose outcome is unknown, because the REST service honours the header; `pets` or `messages` if only one does',
  },
  FORWARD_HEADERS: {
    ...setting('forwardHeaders', headerNames),
    meaning: 'headers to pass on to the REST service',
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
} as const satisfies Record<string, Variable>;
