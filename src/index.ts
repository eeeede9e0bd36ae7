import './node-version.ts';
import { type Config, ConfigError, loadConfig } from './config/config.ts';
import type { FetchHandler } from './http/http-message.ts';
import { once } from './http/once.ts';
import { type Gateway, type GatewayConfig, openMounted } from './mounted.ts';
import type { Log } from './telemetry/log.ts';
import type { LocalExecute, LocalExecution } from './yoga/local-caller.ts';

export type { NodeListener } from './http/http-message.ts';
export type {
  Deprecation,
  LocalCaller,
  LocalExecute,
  LocalResult,
  ResultExtensions,
  TypedDocument,
  TypedError,
} from './yoga/local-caller.ts';
export type { Gateway, GatewayConfig, Log };
export { type Config, ConfigError, loadConfig };

/**
 * Opens the gateway. Disposing it refuses new requests, finishes those in flight and closes the
 * backend. Without `log`, log lines go to stderr.
 * @throws ConfigError if `config` lacks a setting; other errors if the backend or manifest can't be opened
 */
export function createGateway(
  config: GatewayConfig,
  log?: Log,
): Promise<Gateway & AsyncDisposable> {
  return openMounted(config, {}, log);
}

/** A gateway that may not be open yet: its functions reject with the reason if it can't be. */
export interface LazyGateway extends FetchHandler, LocalExecution, AsyncDisposable {
  readonly metrics: Gateway['metrics'];
}

/**
 * Creates a gateway that opens at the first request: `createLazyGateway(() =>
 * createGateway(loadConfig(process.env)))`. This is for frameworks that load routes without serving
 * them, such as `next build`. If opening fails, the next request tries again. Disposing it disposes the
 * gateway; one that is not open then is never opened.
 */
export function createLazyGateway(
  open: () => Promise<Gateway & Partial<AsyncDisposable>>,
): LazyGateway {
  let isDisposed = false;
  // An async function, because loadConfig throws synchronously.
  const opened = once(async () => {
    if (isDisposed) throw new Error('This gateway was disposed before its first request.');
    return open();
  });
  const execute: LocalExecute = async (...operation) => (await opened()).execute(...operation);
  const handle = async (request: Request) => (await opened())(request);
  const metrics = async () => (await opened()).metrics();
  const dispose = async () => {
    isDisposed = true;
    await (await opened().catch(() => undefined))?.[Symbol.asyncDispose]?.();
  };
  return Object.assign(handle, { execute, metrics, [Symbol.asyncDispose]: dispose });
}
