import type { BuiltinOptions } from '../../src/backends/builtin/backend.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type AppOptions, type AppResources, createApp } from '../../src/gateway.ts';
import { createFetchHandler } from '../../src/http/fetch.ts';
import { type ListenOptions, listen } from '../../src/http/listen.ts';
import { ApiKeys } from '../../src/keys/api-keys.ts';
import { openPetStore } from '../../src/petstore/open.ts';
import type { PetStore } from '../../src/petstore/operations.ts';
import { type OverloadLimits, openOverloadGuard } from '../../src/request/admission.ts';
import { openRateLimit, type RateLimitOptions } from '../../src/request/rate-limit.ts';
import { createEnvironment, Scope } from '../../src/request/scope.ts';
import type { Telemetry } from '../../src/telemetry/telemetry.ts';
import { createV1 } from '../../src/v1/routes.ts';
import { openTelemetry, quiet } from './log.ts';
import { checkResponses } from './violations.ts';

/** The API key that the built-in backend accepts in tests. */
export const apiKey = 'demo-key';

/** The API keys of the pet store that was opened last, which `callWith` uses. */
let latestKeys = new ApiKeys();

/** Returns a new set of API keys for a pet store. */
export function openKeys(): ApiKeys {
  latestKeys = new ApiKeys();
  return latestKeys;
}

/** Opens the built-in backend, in memory unless given a database, with its demo data. */
export async function openBuiltin(databaseUrl = ':memory:', options: Partial<BuiltinOptions> = {}) {
  const keys = openKeys();
  const petStore = await openPetStore(
    { kind: 'builtin', databaseUrl, demoKey: apiKey, timeoutMs: 10_000, ...options },
    quiet,
    keys,
  );
  return { ...petStore, keys };
}

/** Creates the caller of a pet store, by default of the one that was opened last. */
export function callWith(key = apiKey, signal?: AbortSignal, keys = latestKeys): Scope {
  const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'test' };
  const environment = { ...createEnvironment(quiet), keys };
  const scope = new Scope(environment, { method: 'TEST', path: '', headers });
  if (signal) scope.follow({ signal });
  return scope;
}

/** The parts of a gateway that a test can replace. */
export type TestOptions = Partial<AppOptions & AppResources & OverloadLimits & RateLimitOptions> & {
  readonly telemetry?: Telemetry;
};

/** Where a gateway listens: on a free port unless the test chooses. */
type TestListenOptions = Partial<Pick<ListenOptions, 'host' | 'tls'>>;

/**
 * Opens a gateway that tests call like `fetch`, without a socket. It records log lines. Disposing
 * throws if a response of its REST interface violated the OpenAPI document.
 */
export async function openGateway(options: TestOptions = {}) {
  const petStore: PetStore & { readonly keys?: ApiKeys } =
    options.petStore ?? (await openBuiltin());
  const telemetry = openTelemetry();
  // What is known of the keys is shared with the pet store.
  const environment = createEnvironment(options.telemetry ?? telemetry, petStore.keys);
  const { keys } = environment;
  const limits = {
    maxRequestsInFlight: 1000,
    maxRequestsInFlightPerKey: 1000,
    maxEventLoopLagMs: 10_000,
    ...options,
  };
  const rates = { rateLimitPerKey: undefined, rateLimitStore: undefined, ...options };
  const rateLimit = await openRateLimit(rates, keys, telemetry);
  const admission = openOverloadGuard(limits, keys, telemetry.metrics);
  const settings = {
    environment,
    admission,
    rateLimit,
    isDraining: () => false,
    compression: false,
    onlyLoopbackHosts: false,
    graphiql: false,
    introspection: true,
    explain: false,
    forwardHeaders: undefined,
    corsOrigins: [],
    operationLimits: loadConfig({}).operationLimits,
    maxTimeoutMs: 10_000,
    createV1,
    ...options,
  };
  const { persistedDocuments = { mode: 'off', manifest: new Map() }, demoKey } = options;
  const app = createApp(settings, { petStore, persistedDocuments, demoKey });
  const checked = checkResponses(createFetchHandler(app));
  return {
    ...app,
    gateway: checked.gateway,
    keys,
    petStore,
    ...telemetry,
    async [Symbol.asyncDispose]() {
      admission[Symbol.dispose]();
      rateLimit?.[Symbol.dispose]();
      await petStore[Symbol.asyncDispose]();
      checked[Symbol.dispose]();
    },
  };
}

/** Opens the same gateway and listens. */
export async function startGateway(options: TestOptions & TestListenOptions = {}) {
  const opened = await openGateway(options);
  const { host = '127.0.0.1', tls } = options;
  const listenOptions = { host, port: 0, tls, metrics: opened.metrics };
  const { url, close, setCertificate } = await listen(opened, listenOptions);
  return {
    ...opened,
    url,
    close,
    setCertificate,
    async [Symbol.asyncDispose]() {
      await close(0);
      await opened[Symbol.asyncDispose]();
    },
  };
}
