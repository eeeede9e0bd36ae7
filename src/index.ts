import { openApp } from './app.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { once } from './once.ts';
import { openGate } from './server/gate.ts';
import { createFetchHandler, type FetchHandler } from './server/http/fetch.ts';
import { createNodeListener as listenerOf, type NodeListener } from './server/http/node.ts';
import type { LocalExecute, LocalExecuteIncrementally } from './server/local-caller.ts';
import { createLog, type Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';

export type {
  LocalCaller,
  LocalExecute,
  LocalExecuteIncrementally,
  LocalPartialResult,
  LocalResult,
  TypedDocument,
} from './server/local-caller.ts';
export type { Log, NodeListener };
export { type Config, ConfigError, loadConfig };

/**
 * The gateway for another server: a fetch handler that answers GraphQL whatever the path, and a
 * browser's `GET` with GraphiQL where that is on. It rejects only when a request's body can't be read.
 */
export interface Gateway extends FetchHandler {
  /**
   * The same for servers of `node:http`: Node's own, Express, Fastify's raw requests. It reads the
   * body itself, and refuses one that was read before.
   */
  readonly nodeListener: NodeListener;
  /** The same for callers in this process, without HTTP. */
  readonly execute: LocalExecute;
  /** The same for operations that defer fragments: an async iterable of what has come. */
  readonly executeIncrementally: LocalExecuteIncrementally;
}

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
 * Opens the gateway. Disposing of it answers what is in flight, closes the backend, and refuses what
 * comes later. Log lines go to stderr unless a log is given.
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
  const tracing = await openTracing(config.otlpEndpoint, log);
  try {
    const telemetry = { log, metrics: new Metrics(), tracing };
    const gate = openGate();
    const surroundings = {
      telemetry,
      admission: gate,
      isDraining: undefined,
      onlyLoopbackHosts: false,
      createV1: undefined,
    };
    const app = await openApp(config, surroundings);
    const close = async () => {
      await gate.close();
      await app[Symbol.asyncDispose]();
      await tracing[Symbol.asyncDispose]();
    };
    let closed: Promise<void> | undefined;
    return Object.assign(createFetchHandler(app.handle), {
      nodeListener: listenerOf(app.handle),
      execute: app.execute,
      executeIncrementally: app.executeIncrementally,
      [Symbol.asyncDispose]: () => {
        closed ??= close();
        return closed;
      },
    });
  } catch (error) {
    await tracing[Symbol.asyncDispose]();
    throw error;
  }
}

/** A gateway that may not be open yet. Where it can't be opened, it rejects with the reason. */
export interface LazyGateway extends FetchHandler {
  readonly execute: LocalExecute;
  readonly executeIncrementally: LocalExecuteIncrementally;
}

/**
 * A gateway that its first request opens, for a framework that loads routes without serving them, as
 * `next build` does: `createLazyGateway(() => createGateway(loadConfig(process.env)))`. After a
 * failure the next request opens it anew.
 */
export function createLazyGateway(open: () => Promise<Gateway>): LazyGateway {
  // What reads the configuration throws at once.
  const opened = once(async () => open());
  const execute: LocalExecute = async (...operation) => (await opened()).execute(...operation);
  const executeIncrementally: LocalExecuteIncrementally = async function* (...operation) {
    yield* (await opened()).executeIncrementally(...operation);
  };
  const handle = async (request: Request) => (await opened())(request);
  return Object.assign(handle, { execute, executeIncrementally });
}

/** The gateway as a request listener of `node:http`: its `nodeListener`. */
export function createNodeListener(gateway: Pick<Gateway, 'nodeListener'>): NodeListener {
  return gateway.nodeListener;
}
