import { type Config, ConfigError, warnOfUnknown } from './config/config.ts';
import { openApp } from './gateway.ts';
import { createFetchHandler } from './http/fetch.ts';
import type { FetchHandler, NodeListener } from './http/http-message.ts';
import { createNodeListener } from './http/node.ts';
import { once } from './http/once.ts';
import { openGate } from './request/admission.ts';
import { createEnvironment } from './request/scope.ts';
import { createLog, type Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';
import type { HostAdditions } from './yoga/host-additions.ts';
import type { LocalExecution } from './yoga/local-caller.ts';

/**
 * The gateway for mounting in another server: a fetch handler that serves GraphQL at every path,
 * and GraphiQL to browsers if it is on. It rejects only if the request body can't be read.
 */
export interface Gateway extends FetchHandler, LocalExecution {
  /**
   * A request listener for `node:http` servers: Node's own, Express, and Fastify's raw requests. It
   * reads the body itself and refuses a request whose body has been read, unless it has a `rawBody`.
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
  'tracesUrl',
  'tracesSampler',
  'tracesSamplerArg',
] as const;

/** The settings that the library reads; `loadConfig` returns them. */
export type GatewayConfig = Pick<Config, (typeof settings)[number]> &
  Partial<Pick<Config, 'unknownVariables'>>;

/**
 * Opens a gateway for mounting. Disposing it refuses new requests, finishes those in flight and closes
 * the backend.
 * @throws ConfigError if `config` lacks a setting; other errors if the backend or manifest can't be opened
 */
export async function openMounted(
  config: GatewayConfig,
  host: HostAdditions,
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
    const tracing = opened.use(await openTracing(config.tracesUrl, log, config));
    const metrics = new Metrics();
    const environment = createEnvironment({ log, metrics, tracing });
    const gate = openGate();
    const mounted = { environment, admission: gate, rateLimit: undefined, compression: false };
    const app = opened.use(await openApp({ ...config, ...host, ...mounted }));
    opened.defer(() => {
      // All calls have ended then, so that nobody reads these.
      const end = () => environment.streams.forEach((parts) => void parts.return().catch(() => {}));
      const timer = setTimeout(end, config.maxTimeoutMs);
      return gate.close().finally(() => clearTimeout(timer));
    });
    const listener = createNodeListener(app);
    const nodeListener: NodeListener = (incoming, outgoing) =>
      new Promise((resolve) => {
        // The client may have left before the host calls the listener.
        if (outgoing.destroyed) resolve();
        else listener(incoming, outgoing.once('close', resolve));
      });
    return Object.assign(createFetchHandler(app), {
      nodeListener,
      execute: app.execute,
      metrics: async () => (await metrics.scrape()).text,
      [Symbol.asyncDispose]: once(() => opened.disposeAsync()),
    });
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}
