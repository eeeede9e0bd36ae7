import { coalesceReads, openPetStore } from './backends/open.ts';
import type { Config } from './config.ts';
import { createGateway as openGateway } from './server/gateway.ts';
import { openPersistedDocuments } from './server/persisted-documents.ts';
import { createLog, type Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';

export { type Config, ConfigError, loadConfig } from './config.ts';
export { createNodeListener } from './server/node-listener.ts';
export type { Log };

/** Answers GraphQL requests. Never throws. */
export type Gateway = (request: Request) => Promise<Response>;

/** The part of a configuration that the library reads; `loadConfig` makes one. */
export type GatewayConfig = Pick<
  Config,
  | 'backend'
  | 'coalesceReads'
  | 'graphiql'
  | 'introspection'
  | 'corsOrigins'
  | 'operationLimits'
  | 'persistedDocuments'
  | 'logLevel'
  | 'otlpEndpoint'
>;

/**
 * The gateway as a fetch handler, for a server that has routed the request: it answers GraphQL
 * whatever the path, and `GET` of a browser with GraphiQL where that is on. Disposing of it closes
 * the backend. Log lines go to stderr unless a log is given.
 * @throws when the backend or the manifest can't be opened.
 */
export async function createGateway(
  config: GatewayConfig,
  log: Log = createLog(config.logLevel, process.stderr),
): Promise<Gateway & AsyncDisposable> {
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
    return Object.assign(gateway, { [Symbol.asyncDispose]: () => opened.disposeAsync() });
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}
