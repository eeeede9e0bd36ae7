import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Refusal } from '../http/refuse.ts';
import { Share } from '../limits/share.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Admission } from './admission.ts';
import type { RateLimit } from './rate-limit.ts';

/** Beyond these limits new requests are refused, so that those in flight can finish. */
export interface OverloadLimits {
  readonly maxRequestsInFlight: number;
  /** The limit per key. All requests without a key share one. */
  readonly maxRequestsInFlightPerKey: number;
  /** The mean lag of the event loop, in milliseconds. */
  readonly maxEventLoopLagMs: number;
}

/** The most accepted keys that are remembered; the latest half of them always are. */
const maxAcceptedKeys = 10_000;

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
  metrics: Pick<Metrics, 'watchLimit'>,
  rateLimit?: RateLimit,
): Admission & Disposable {
  const half = Math.ceil(total / 2);
  const requests = new Share('requests', { total, perKey });
  const unknown = new Share('unknown_requests', { total: half, perKey: half });
  for (const limit of [requests, unknown]) metrics.watchLimit(limit);
  let accepted = new Set<number>();
  let acceptedBefore = accepted;
  // Two sets, because one that drops its first key for each new one is slow (docs/performance.md).
  const accept = (key: number) => {
    if (accepted.size >= maxAcceptedKeys / 2) {
      acceptedBefore = accepted;
      accepted = new Set();
    }
    accepted.add(key);
  };
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
    admit({ key, headers }, record, scope) {
      const isAccepted = accepted.has(key) || acceptedBefore.has(key);
      const leave = requests.take(key);
      if (leave === 'key') throw new Refusal('requests_of_key');
      if (leave === 'all') throw new Refusal('requests_in_flight');
      scope.defer(leave);
      if (!isAccepted) {
        const leaveUnknown = unknown.take(key);
        if (typeof leaveUnknown === 'string') throw new Refusal('requests_in_flight');
        scope.defer(leaveUnknown);
      }
      // Also for a key that is only in the older set.
      if (!accepted.has(key)) scope.defer(() => record.keyAccepted && accept(key));
      const { ofAcceptedKeys, ofUnknownKeys } = slowIntervals;
      if (slow >= (isAccepted ? ofAcceptedKeys : ofUnknownKeys)) {
        throw new Refusal('event_loop_lag');
      }
      return rateLimit?.take(key, headers.authorization, isAccepted);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
