import { openPetStore } from '../../src/backends/open.ts';
import { loadConfig } from '../../src/config.ts';
import type { Call, PetStore } from '../../src/contract/pet-store.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../src/server/gateway.ts';
import { createHealth } from '../../src/server/health.ts';
import { type ListenOptions, listen } from '../../src/server/listen.ts';
import { openTelemetry, quiet } from './log.ts';
import { checkResponses } from './violations.ts';

/** The key that the built-in backend of the tests accepts. */
export const apiKey = 'demo-key';

/** The built-in backend in memory, with its demo data. */
export function openBuiltin(databaseUrl = ':memory:'): Promise<PetStore> {
  return openPetStore({ kind: 'builtin', databaseUrl, demoKey: apiKey }, quiet);
}

/** What a call in a test carries. */
export function callWith(key = apiKey, signal?: AbortSignal): Call {
  return {
    apiKey: key,
    authorization: `Bearer ${key}`,
    requestId: 'test',
    ...(signal ? { signal } : {}),
  };
}

/**
 * Of the two ways that a plain JSON post can take, a request without a socket takes Yoga's, and one
 * over a socket the short one. With this, each takes the other.
 */
const isOtherWay = process.env['GRAPHQL_WAY'] === 'other';

/**
 * A gateway to talk to through `fetch`, without a socket. Its log lines are kept. Disposing of it
 * fails when a response of its REST interface was not what the OpenAPI document says.
 */
export async function openGateway(options: Partial<GatewayOptions> = {}) {
  const opened = await open(options);
  return { ...opened, gateway: isOtherWay ? byPost(opened.gateway) : opened.gateway };
}

async function open(options: Partial<GatewayOptions>) {
  const petStore = options.petStore ?? (await openBuiltin());
  const telemetry = openTelemetry();
  const gateway = createGateway({
    telemetry,
    health: createHealth({ checkReady: () => petStore.checkReady(), isDraining: () => false }),
    graphiql: false,
    introspection: true,
    corsOrigins: [],
    operationLimits: loadConfig({}).operationLimits,
    persistedDocuments: { mode: 'off', manifest: new Map() },
    v1: true,
    ...options,
    petStore,
  });
  const checked = checkResponses(gateway);
  return {
    gateway: checked.gateway,
    petStore,
    ...telemetry,
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      checked[Symbol.dispose]();
    },
  };
}

/** The same gateway on a free port. */
export async function startGateway(
  options: Partial<GatewayOptions> = {},
  listenOptions: Partial<ListenOptions> = {},
) {
  const opened = await open(options);
  const gateway = isOtherWay ? withoutPost(opened.gateway) : opened.gateway;
  const { url, close } = await listen(
    gateway,
    {
      host: '127.0.0.1',
      port: 0,
      maxRequestsInFlight: 1000,
      maxEventLoopLagMs: 10_000,
      ...listenOptions,
    },
    quiet,
  );
  return {
    ...opened,
    url,
    close,
    async [Symbol.asyncDispose]() {
      await close(0);
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** The same gateway by Yoga's way. */
function withoutPost(gateway: Gateway): Gateway {
  return (request) => gateway(request);
}

/**
 * The same gateway by its short way. Each operation is sent twice without a key before: that calls
 * no backend, and makes the third time the one that is prepared.
 */
function byPost(gateway: Gateway) {
  return async (request: Request): Promise<Response> => {
    if (request.method !== 'POST' || gateway.post === undefined) return gateway(request);
    const text = await request.clone().text();
    const headers = Object.fromEntries(request.headers);
    const { authorization, ...anonymous } = headers;
    await gateway.post(text, anonymous, request.signal);
    await gateway.post(text, anonymous, request.signal);
    const plain = await gateway.post(text, headers, request.signal);
    return plain ? new Response(plain.body, plain) : gateway(request);
  };
}
