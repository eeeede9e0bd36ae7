import { monitorEventLoopDelay } from 'node:perf_hooks';
import { HttpError } from '../http/error.ts';
import { Refusal } from '../http/refusal.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Scope } from './scope.ts';

/** Decides whether requests are admitted, before any work is done for them. */
export interface Admission {
  /** Admits a request until its end. @throws HttpError if it is refused. */
  admit(scope: Scope): void;
}

/**
 * Opens an `Admission` for a gateway mounted in another server, which limits the load itself. It
 * admits every request until it is closed, and none after.
 */
export function openGate() {
  const { promise: idle, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  let inFlight = 0;
  const place = {
    release() {
      inFlight--;
      if (isClosed && inFlight === 0) resolve();
    },
  };
  return {
    admit(scope: Scope) {
      if (isClosed) {
        const message =
          'This gateway was disposed before this request arrived. Dispose it when your server shuts down.';
        throw new HttpError(503, 'GATEWAY_CLOSED', message, { 'retry-after': '1' });
      }
      inFlight++;
      scope.hold(place, 1);
    },
    /** Resolves when no request is in flight. */
    close() {
      isClosed = true;
      if (inFlight === 0) resolve();
      return idle;
    },
  };
}

/** Beyond these limits new requests are refused, so that those in flight can finish. */
export interface OverloadLimits {
  readonly maxRequestsInFlight: number;
  /** The limit per key. All requests without a key share one. */
  readonly maxRequestsInFlightPerKey: number;
  /** The mean lag of the event loop, in milliseconds. */
  readonly maxEventLoopLagMs: number;
}

/** The interval over which the lag is averaged, in milliseconds. */
const intervalMs = 250;

/**
 * After this many slow intervals in a row, requests are refused. It takes more than one, so that a
 * single pause, however long, causes no refusals, although the mean of its interval is high.
 */
const slowIntervals = { ofUnknownKeys: 2, ofAcceptedKeys: 4 };

/**
 * Refuses requests beyond the limits: first those of a key at its own limit, which gets 429 even if
 * the gateway is full. Requests whose key the backend has not accepted before have half of the
 * places, and are refused first while the event loop lags. Disposing it stops the measurement.
 */
export function openOverloadGuard(
  { maxRequestsInFlight: total, maxRequestsInFlightPerKey: perKey, ...limits }: OverloadLimits,
  keys: ApiKeys,
  metrics: Pick<Metrics, 'watchLimit'>,
): Admission & Disposable {
  const unaccepted = Math.ceil(total / 2);
  const requests = keys.openLimit('requests', { total, perKey, unaccepted });
  metrics.watchLimit(requests);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let slow = 0;
  let measuredAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // A turn that is longer than the interval leaves no sample.
    const lagMs = delay.count === 0 ? now - measuredAt : delay.mean / 1e6;
    // A gateway that starts lags without requests.
    slow = requests.used > 0 && lagMs > limits.maxEventLoopLagMs ? slow + 1 : 0;
    measuredAt = now;
    delay.reset();
  }, intervalMs).unref();

  return {
    admit(scope) {
      const { key } = scope;
      const refusedBy = requests.take(key);
      if (refusedBy === 'key') throw new Refusal('requests_of_key');
      if (refusedBy !== undefined) throw new Refusal('requests_in_flight');
      scope.hold(requests, 1);
      const { ofAcceptedKeys, ofUnknownKeys } = slowIntervals;
      if (slow >= (key.isAccepted ? ofAcceptedKeys : ofUnknownKeys)) {
        throw new Refusal('event_loop_lag');
      }
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
