import {
  BackendTimeoutError,
  BackendUnavailableError,
  InvalidResponseError,
} from '../../contract/error.ts';
import type { Call, CallObservation } from '../../contract/pet-store.ts';
import { placeOf } from '../../places.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Cancellation, RestResponse } from './exchange.ts';
import { DeadlineExceeded, isRetryable, toContractError } from './faults.ts';
import type { Origin } from './origin.ts';
import { RetryBudget } from './retry-budget.ts';

/** One REST call: a path below a base address, and the JSON text to send with it. */
export interface RestRequest {
  /** The contract's name of the operation, for the metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/**
 * Sends a request with the caller's credential and reads the whole answer. A read that found no
 * connection, or a gateway's 502, 503 or 504, is sent once more.
 * @throws BackendTimeoutError, BackendUnavailableError or InvalidResponseError; the reason of
 *   `call.signal` when the caller left.
 */
export type Send = (
  call: Call,
  request: RestRequest,
  traceHeaders: CallObservation['traceHeaders'],
) => Promise<RestResponse>;

/** Calls below `baseUrl` that end `timeoutMs` after their caller began, retries and waits included. */
export function createSend(
  origin: Origin,
  baseUrl: URL,
  timeoutMs: number,
  metrics: Pick<Metrics, 'retry'>,
): Send {
  const prefix = baseUrl.pathname.replace(/\/+$/, '');
  const budget = new RetryBudget();

  return async (call, { operation, method, path, body }, traceHeaders) => {
    call.signal?.throwIfAborted();
    const cancellation = new CallCancellation();
    const { waitsSince } = call;
    const waitedMs = waitsSince === undefined ? 0 : performance.now() - waitsSince;
    const deadline = setTimeout(expire, timeoutMs - waitedMs, cancellation);
    // A write that was sent may have been carried out: it is never cancelled by its caller.
    const follows = method === 'GET' ? call.signal : undefined;
    follows?.addEventListener('abort', cancellation);
    const headers = headersOf(call, body, traceHeaders);
    const options = { method, path: prefix + path, headers, body: body ?? null };
    const place = placeOf(call.authorization);
    const mayRetry = () => method === 'GET' && budget.withdraw(place);
    try {
      budget.deposit(place);
      let first: RestResponse | undefined;
      try {
        first = await origin.request(call.authorization, options, cancellation);
      } catch (error) {
        if (!isRetryable(error) || !mayRetry()) throw error;
      }
      if (first !== undefined && !(isPassing(first) && mayRetry())) return first;
      // Jitter, so that the callers of a service that comes back do not come back as one.
      await pause(20 + 80 * Math.random(), cancellation);
      metrics.retry(operation);
      return await origin.request(call.authorization, options, cancellation);
    } catch (error) {
      if (call.signal?.aborted && method === 'GET') throw call.signal.reason;
      throw isContractError(error) ? error : toContractError(cancellation.reason ?? error);
    } finally {
      clearTimeout(deadline);
      follows?.removeEventListener('abort', cancellation);
    }
  };
}

/** A listener to the signal of the caller, of one shape for all calls. */
class CallCancellation implements Cancellation, EventListenerObject {
  reason: Error | undefined;
  onCancel: Cancellation['onCancel'];

  cancel(reason: Error): void {
    this.reason ??= reason;
    this.onCancel?.(reason);
  }

  handleEvent({ target }: Event): void {
    this.cancel((target as AbortSignal).reason);
  }
}

function expire(cancellation: CallCancellation): void {
  cancellation.cancel(new DeadlineExceeded());
}

function pause(ms: number, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    cancellation.onCancel = (reason) => {
      clearTimeout(timer);
      reject(reason);
    };
  });
}

function headersOf(
  call: Call,
  body: string | undefined,
  traceHeaders: CallObservation['traceHeaders'],
): Record<string, string> {
  const headers: Record<string, string> = {
    authorization: call.authorization,
    accept: 'application/json',
    // The bound on a body counts bytes on the wire: an encoded one could unfold without bound.
    'accept-encoding': 'identity',
    'x-request-id': call.requestId,
  };
  if (traceHeaders !== undefined) Object.assign(headers, traceHeaders);
  if (body !== undefined) headers['content-type'] = 'application/json';
  return headers;
}

/** A fault on the way that may have passed already, and nobody asked to stay away. */
function isPassing({ status, headers }: RestResponse): boolean {
  return status >= 502 && status <= 504 && headers['retry-after'] === undefined;
}

function isContractError(error: unknown): boolean {
  return (
    error instanceof BackendUnavailableError ||
    error instanceof BackendTimeoutError ||
    error instanceof InvalidResponseError
  );
}
