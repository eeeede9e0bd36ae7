import './node-version.ts';
import { type Config, ConfigError, loadConfig, warnOfUnknown } from './config/config.ts';
import { openApp } from './gateway.ts';
import { createFetchHandler } from './http/fetch.ts';
import type { FetchHandler, NodeListener } from './http/handlers.ts';
import { createNodeListener as listenerOf } from './http/node.ts';
import { once } from './http/once.ts';
import { openGate } from './request/admission.ts';
import { createEnvironment } from './request/request-environment.ts';
import { createLog, type Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';
import type { LocalExecute, LocalExecution } from './yoga/local-caller.ts';

export type {
  Deprecation,
  LocalCaller,
  LocalExecute,
  LocalResult,
  ResultExtensions,
  TypedDocument,
  TypedError,
} from './yoga/local-caller.ts';
export type { Log, NodeListener };
export { type Config, ConfigError, loadConfig };

/**
 * The gateway for mounting in another server: a fetch handler that serves GraphQL at every path,
 * and GraphiQL to browsers if it is on. It rejects only if the request body can't be read.
 */
export interface Gateway extends FetchHandler, LocalExecution {
  /**
   * A request listener for `node:http` servers: Node's own, Express, and Fastify's raw requests. It
   * reads the body itself and refuses a request whose body has been read.
   */
  readonly nodeListener: NodeListener;
  /** Returns the metrics in the OpenMetrics text format, for a route of your own. */
  metrics(): Promise<string>;
}

const settings = [
  'backend',
  'graphiql',
  'introspection',
  'explain',
  'corsOrigins',
  'forwardHeaders',
  'maxTimeoutMs',
  'onlyLoopbackHosts',
  'operationLimits',
  'persistedDocuments',
  'logLevel',
  'otlpEndpoint',
  'tracesSampler',
  'tracesSamplerArg',
] as const;

/** The settings that the library reads; `loadConfig` returns them. */
export type GatewayConfig = Pick<Config, (typeof settings)[number]> &
  Partial<Pick<Config, 'unknownVariables'>>;

/**
 * Opens the gateway. Disposing it refuses new requests, finishes those in flight and closes the
 * backend. Without `log`, log lines go to stderr.
 * @throws ConfigError if `config` lacks a setting; other errors if the backend or manifest can't be
 *   opened.
 */
export async function createGateway(
  config: GatewayConfig,
  log: Log = createLog(config?.logLevel ?? 'info', process.stderr),
): Promise<Gateway & AsyncDisposable> {
  const missing = settings.find((name) => !(name in Object(config)));
  if (missing !== undefined) {
    throw new ConfigError(
      `createGateway: expected a configuration from loadConfig(process.env), received one without ${missing}.`,
    );
  }
  warnOfUnknown(config, log);
  const opened = new AsyncDisposableStack();
  try {
    const tracing = opened.use(await openTracing(config.otlpEndpoint, log, config));
    const metrics = new Metrics();
    const environment = createEnvironment({ log, metrics, tracing });
    const gate = openGate();
    const mounted = { ...environment, admission: gate };
    const app = opened.use(await openApp({ ...config, ...mounted, compression: false }));
    opened.defer(() => gate.close());
    return Object.assign(createFetchHandler(app, config.forwardHeaders), {
      nodeListener: listenerOf(app),
      execute: app.execute,
      metrics: async () => (await metrics.scrape()).text,
      [Symbol.asyncDispose]: once(() => opened.disposeAsync()),
    });
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** A gateway that may not be open yet: its functions reject with the reason if it can't be. */
export interface LazyGateway extends FetchHandler, LocalExecution, Pick<Gateway, 'metrics'> {}

/**
 * Creates a gateway that opens at the first request: `createLazyGateway(() =>
 * createGateway(loadConfig(process.env)))`. This is for frameworks that load routes without serving
 * them, such as `next build`. If opening fails, the next request tries again.
 */
export function createLazyGateway(open: () => Promise<Gateway>): LazyGateway {
  // An async function, because loadConfig throws synchronously.
  const opened = once(async () => open());
  const execute: LocalExecute = async (...operation) => (await opened()).execute(...operation);
  const handle = async (request: Request) => (await opened())(request);
  const metrics = async () => (await opened()).metrics();
  return Object.assign(handle, { execute, metrics });
}

/** Returns the gateway's `nodeListener`, a request listener for `node:http` servers. */
export function createNodeListener(gateway: Pick<Gateway, 'nodeListener'>): NodeListener {
  return gateway.nodeListener;
}
