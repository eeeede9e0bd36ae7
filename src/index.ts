import { coalesceReads, openPetStore } from './backends/open.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { createGateway as openGateway } from './server/gateway.ts';
import { openPersistedDocuments } from './server/persisted-documents.ts';
import { createLog, type Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';

export { createNodeListener } from './server/node-listener.ts';
export type { Log };
export { type Config, ConfigError, loadConfig };

/** Answers GraphQL requests. Never throws. */
export type Gateway = (request: Request) => Promise<Response>;

const parts = [
  'backend',
  'coalesceReads',
  'graphiql',
  'introspection',
  'corsOrigins',
  'operationLimits',
  'persistedDocuments',
  'logLevel',
  'otlpEndpoint',
] as const;

/** The part of a configuration that the library reads; `loadConfig` makes one. */
export type GatewayConfig = Pick<Config, (typeof parts)[number]>;

/**
 * The gateway as a fetch handler, for a server that has routed the request: it answers GraphQL
 * whatever the path, and `GET` of a browser with GraphiQL where that is on. Disposing of it answers
 * what is in flight, closes the backend, and refuses what comes later. Log lines go to stderr unless
 * a log is given.
 * @throws ConfigError for what is no configuration; when the backend or the manifest can't be opened.
 */
export async function createGateway(
  config: GatewayConfig,
  log: Log = createLog(config?.logLevel ?? 'info', process.stderr),
): Promise<Gateway & AsyncDisposable> {
  const lacking = parts.find((name) => !(name in Object(config)));
  if (lacking !== undefined) {
    throw new ConfigError(
      `createGateway: expected a configuration as loadConfig(process.env) makes it, received one without ${lacking}.`,
    );
  }
  const { backend } = config;
  const opened = new AsyncDisposableStack();
  try {
    const tracing = opened.use(await openTracing(config.otlpEndpoint));
    const telemetry = { log, metrics: new Metrics(), tracing };
    const persistedDocuments = await openPersistedDocuments(config.persistedDocuments);
    const backing = opened.use(await openPetStore(backend, telemetry));
    const gateway = openGateway({
      ...config,
      persistedDocuments,
      petStore: config.coalesceReads ? coalesceReads(backing, telemetry.metrics) : backing,
      telemetry,
      mounted: true,
      // Whoever mounts it has health checks of their own.
      health: () => undefined,
      v1: false,
      demoKey: backend.kind === 'builtin' ? backend.demoKey : undefined,
    });
    return closable(gateway, () => opened.disposeAsync());
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** A gateway that ends in order: see `createGateway`. */
function closable(gateway: Gateway, close: () => Promise<void>): Gateway & AsyncDisposable {
  const inFlight = new Set<Promise<Response>>();
  let closed: Promise<void> | undefined;
  const handle = async (request: Request) => {
    if (closed !== undefined) return refuseClosed();
    const answer = gateway(request);
    inFlight.add(answer);
    try {
      return await answer;
    } finally {
      inFlight.delete(answer);
    }
  };
  return Object.assign(handle, {
    [Symbol.asyncDispose]: () => {
      closed ??= Promise.allSettled(inFlight).then(close);
      return closed;
    },
  });
}

function refuseClosed(): Response {
  const message =
    'This gateway is closed: it was disposed of before this request came. Dispose of it when your server ends.';
  return Response.json(
    { errors: [{ message, extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] },
    { status: 503 },
  );
}
