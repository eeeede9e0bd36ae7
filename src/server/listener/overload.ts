import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Refusal } from '../../http/refuse.ts';
import { bucketCount, bucketOf, keyOf } from '../../limits/key.ts';
import type { Admission } from '../admission.ts';

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
 * Refuses requests beyond the limits: first those of a key at its own limit, which gets 429 even if
 * the gateway is full. Disposing it stops the measurement.
 */
export function openOverloadGuard(limits: OverloadLimits): Admission & Disposable {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let lags = false;
  let wasSlow = false;
  let inFlight = 0;
  // Not a Map, which would grow and shrink with every request. Keys with the same hash share a
  // limit.
  const inFlightPerKey = new Uint32Array(bucketCount);
  const timer = setInterval(() => {
    // The mean, and twice in a row, so that one pause of any length causes no refusals: the machine
    // may stop, and an interval that begins with a pause has nothing else to average.
    const isSlow = delay.mean / 1e6 > limits.maxEventLoopLagMs;
    lags = isSlow && wasSlow;
    wasSlow = isSlow;
    delay.reset();
  }, intervalMs).unref();

  return {
    enter(authorization) {
      const bucket = bucketOf(keyOf(authorization));
      const ofKey = inFlightPerKey[bucket] ?? 0;
      if (ofKey >= limits.maxRequestsInFlightPerKey) throw new Refusal('requests_of_key');
      if (inFlight >= limits.maxRequestsInFlight) throw new Refusal('requests_in_flight');
      if (lags) throw new Refusal('event_loop_lag');
      inFlightPerKey[bucket] = ofKey + 1;
      inFlight++;
    },
    leave(authorization) {
      const bucket = bucketOf(keyOf(authorization));
      inFlightPerKey[bucket] = (inFlightPerKey[bucket] ?? 1) - 1;
      inFlight--;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
