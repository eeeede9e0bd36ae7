import {
  BackendTimeoutError,
  BackendUnavailableError,
  InvalidResponseError,
} from '../../contract/error.ts';
import type { Call, CallObservation } from '../../contract/pet-store.ts';
import { bucketOf } from '../../key-buckets.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Cancellation, RestResponse } from './dispatch-call.ts';
import { DeadlineExceeded, isRetryable, toContractError } from './faults.ts';
import type { Origin } from './origin.ts';
import { RetryBudget } from './retry-budget.ts';

/** The parameters of a REST call: a path below the base URL, and the JSON text of the body. */
export interface RestRequest {
  /** The operation id of the contract, for the metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/**
 * Sends a call with the caller's credential and reads the complete response. Retries a read once if
 * connecting failed, the connection was reset, or the status was 502, 503 or 504.
 * @throws BackendTimeoutError, BackendUnavailableError or InvalidResponseError; the reason of
 *   `call.signal` if the caller disconnected.
 */
export type Send = (
  call: Call,
  request: RestRequest,
  traceHeaders: CallObservation['traceHeaders'],
) => Promise<RestResponse>;

/** Creates `Send` for `baseUrl`. Calls and retries end `timeoutMs` after the start of the wait. */
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
    const { waitingSince } = call;
    const waitedMs = waitingSince === undefined ? 0 : performance.now() - waitingSince;
    const deadline = setTimeout(expire, timeoutMs - waitedMs, cancellation);
    // Writes are not cancelled when the caller disconnects, because their outcome would be unknown.
    const signal = method === 'GET' ? call.signal : undefined;
    signal?.addEventListener('abort', cancellation);
    const headers = headersOf(call, body, traceHeaders);
    const options = { method, path: prefix + path, headers, body: body ?? null };
    const bucket = bucketOf(call.authorization);
    const mayRetry = () => method === 'GET' && budget.withdraw(bucket);
    try {
      budget.deposit(bucket);
      let first: RestResponse | undefined;
      try {
        first = await origin.call(call.authorization, options, cancellation);
      } catch (error) {
        if (!isRetryable(error) || !mayRetry()) throw error;
      }
      if (first !== undefined && !(isTransient(first) && mayRetry())) return first;
      // The jitter spreads the retries of concurrent calls.
      await pause(20 + 80 * Math.random(), cancellation);
      metrics.retry(operation);
      return await origin.call(call.authorization, options, cancellation);
    } catch (error) {
      if (call.signal?.aborted && method === 'GET') throw call.signal.reason;
      throw isContractError(error) ? error : toContractError(cancellation.reason ?? error);
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', cancellation);
    }
  };
}

/** The cancellation of one call. It is also the listener of the caller's abort signal. */
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
    // The limit applies to the received bytes. A decompressed body could be much larger.
    'accept-encoding': 'identity',
    'x-request-id': call.requestId,
  };
  if (traceHeaders !== undefined) Object.assign(headers, traceHeaders);
  if (body !== undefined) headers['content-type'] = 'application/json';
  return headers;
}

/** Whether a retry may succeed: a gateway error without a Retry-After header. */
function isTransient({ status, headers }: RestResponse): boolean {
  return status >= 502 && status <= 504 && headers['retry-after'] === undefined;
}

function isContractError(error: unknown): boolean {
  return (
    error instanceof BackendUnavailableError ||
    error instanceof BackendTimeoutError ||
    error instanceof InvalidResponseError
  );
}
