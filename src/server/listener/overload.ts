import { monitorEventLoopDelay } from 'node:perf_hooks';
import { overloaded, tooManyRequests } from '../../http/error.ts';
import { placeOf, places } from '../../places.ts';
import { createRefusalLog } from '../../telemetry/refusals.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Admission } from '../admission.ts';

/** When new requests are turned away so that those in flight can finish. */
export interface OverloadLimits {
  readonly maxRequestsInFlight: number;
  /** Of them, those of one key, and those without one. */
  readonly maxRequestsInFlightPerKey: number;
  /** How far the event loop may lag, in milliseconds. */
  readonly maxEventLoopLagMs: number;
}

/** How often the lag is measured, in milliseconds. */
const intervalMs = 250;

/** Turns requests away beyond the limits, and counts and logs them. Disposing of it ends the measuring. */
export function openOverloadGuard(
  limits: OverloadLimits,
  { log, metrics }: Pick<Telemetry, 'log' | 'metrics'>,
): Admission & Disposable {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const logRefusal = createRefusalLog(log);
  let lags = false;
  let inFlight = 0;
  // Not a Map, which would grow and shrink with each request. Two keys in 4,096 share one share.
  const inFlightPerKey = new Uint32Array(places);
  const timer = setInterval(() => {
    // The mean over the interval: one long pause, such as a garbage collection, turns nobody away.
    lags = delay.mean / 1e6 > limits.maxEventLoopLagMs;
    delay.reset();
  }, intervalMs).unref();

  return {
    enter(authorization = '') {
      const place = placeOf(authorization);
      const ofKey = inFlightPerKey[place] ?? 0;
      const isFull = lags || inFlight >= limits.maxRequestsInFlight;
      if (isFull || ofKey >= limits.maxRequestsInFlightPerKey) {
        metrics.refused();
        logRefusal();
        throw isFull ? overloaded() : tooManyRequests();
      }
      inFlightPerKey[place] = ofKey + 1;
      inFlight++;
    },
    leave(authorization = '') {
      const place = placeOf(authorization);
      inFlightPerKey[place] = (inFlightPerKey[place] ?? 1) - 1;
      inFlight--;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
