import { monitorEventLoopDelay } from 'node:perf_hooks';
import { overloaded, tooManyRequests } from '../../http/error.ts';
import { bucketCount, bucketOf } from '../../key-buckets.ts';
import { createRefusalLog } from '../../telemetry/refusal-log.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
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
 * Refuses requests beyond the limits, and counts and logs them. Disposing it stops the measurement.
 */
export function openOverloadGuard(
  limits: OverloadLimits,
  { log, metrics }: Pick<Telemetry, 'log' | 'metrics'>,
): Admission & Disposable {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const logRefusal = createRefusalLog(log);
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
    enter(authorization = '') {
      const bucket = bucketOf(authorization);
      const ofKey = inFlightPerKey[bucket] ?? 0;
      const isFull = lags || inFlight >= limits.maxRequestsInFlight;
      if (isFull || ofKey >= limits.maxRequestsInFlightPerKey) {
        metrics.refused();
        logRefusal();
        throw isFull ? overloaded() : tooManyRequests();
      }
      inFlightPerKey[bucket] = ofKey + 1;
      inFlight++;
    },
    leave(authorization = '') {
      const bucket = bucketOf(authorization);
      inFlightPerKey[bucket] = (inFlightPerKey[bucket] ?? 1) - 1;
      inFlight--;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
