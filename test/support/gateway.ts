import { type AppParts, createApp } from '../../src/app.ts';
import { openPetStore } from '../../src/backends/open.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Call, PetStore } from '../../src/contract/pet-store.ts';
import { keyOf } from '../../src/limits/key.ts';
import { createByteLimits } from '../../src/server/byte-limits.ts';
import { createFetchHandler } from '../../src/server/http/fetch.ts';
import { type ListenOptions, listen } from '../../src/server/listener/listen.ts';
import { type OverloadLimits, openOverloadGuard } from '../../src/server/overload.ts';
import { openRateLimit, type RateLimitOptions } from '../../src/server/rate-limit.ts';
import { createV1 } from '../../src/v1/routes.ts';
import { openTelemetry, quiet } from './log.ts';
import { checkResponses } from './violations.ts';

/** The API key that the built-in backend accepts in tests. */
export const apiKey = 'demo-key';

/** Opens the built-in backend, in memory unless given a database, with its demo data. */
export function openBuiltin(databaseUrl = ':memory:'): Promise<PetStore> {
  return openPetStore({ kind: 'builtin', databaseUrl, demoKey: apiKey }, quiet);
}

/** Creates the context of a call to a pet store. */
export function callWith(key = apiKey, signal?: AbortSignal): Call {
  return {
    apiKey: key,
    authorization: `Bearer ${key}`,
    key: keyOf(`Bearer ${key}`),
    requestId: 'test',
    ...(signal ? { signal } : {}),
  };
}

/** The parts of a gateway that a test can replace. */
export type TestOptions = Partial<AppParts & OverloadLimits & RateLimitOptions>;

/** Where a gateway listens: on a free port unless the test chooses. */
export type TestListenOptions = Partial<Pick<ListenOptions, 'host' | 'tls'>>;

/**
 * Opens a gateway that tests call like `fetch`, without a socket. It records log lines. Disposing
 * throws if a response of its REST interface violated the OpenAPI document.
 */
export async function openGateway(options: TestOptions = {}) {
  const petStore = options.petStore ?? (await openBuiltin());
  const telemetry = openTelemetry();
  const byteLimits = createByteLimits(telemetry.metrics);
  const limits = {
    maxRequestsInFlight: 1000,
    maxRequestsInFlightPerKey: 1000,
    maxEventLoopLagMs: 10_000,
    ...options,
  };
  const rates = { rateLimitPerKey: undefined, rateLimitStore: undefined, ...options };
  const rateLimit = await openRateLimit(rates, telemetry);
  const admission = openOverloadGuard(limits, telemetry.metrics, rateLimit);
  const app = createApp({
    telemetry,
    admission,
    isDraining: () => false,
    onlyLoopbackHosts: false,
    graphiql: false,
    introspection: true,
    explain: false,
    forwardHeaders: undefined,
    corsOrigins: [],
    operationLimits: loadConfig({}).operationLimits,
    persistedDocuments: { mode: 'off', manifest: new Map() },
    demoKey: undefined,
    createV1,
    ...options,
    petStore,
  });
  const checked = checkResponses(
    createFetchHandler(app.handle, byteLimits.bodyBytes, options.forwardHeaders),
  );
  return {
    ...app,
    gateway: checked.gateway,
    petStore,
    byteLimits,
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
  const listenOptions = { host, port: 0, tls };
  const { url, close, setCertificate } = await listen(
    opened.handle,
    opened.byteLimits,
    listenOptions,
  );
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
