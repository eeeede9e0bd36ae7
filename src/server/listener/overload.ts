import { monitorEventLoopDelay } from 'node:perf_hooks';
import { HttpError } from '../../http/error.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Admission } from '../admission.ts';

/** When new requests are turned away so that those in flight can finish. */
export interface OverloadLimits {
  readonly maxRequestsInFlight: number;
  /** How far the event loop may lag, in milliseconds. */
  readonly maxEventLoopLagMs: number;
}

/** How often the lag is measured, in milliseconds. */
const intervalMs = 250;

/** Turns requests away beyond the limits, and counts them. Disposing of it ends the measuring. */
export function openOverloadGuard(
  limits: OverloadLimits,
  metrics: Pick<Metrics, 'refused'>,
): Admission & Disposable {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let lags = false;
  let inFlight = 0;
  const timer = setInterval(() => {
    // The mean over the interval: one long pause, such as a garbage collection, turns nobody away.
    lags = delay.mean / 1e6 > limits.maxEventLoopLagMs;
    delay.reset();
  }, intervalMs).unref();

  return {
    enter() {
      if (!lags && inFlight < limits.maxRequestsInFlight) {
        inFlight++;
        return;
      }
      metrics.refused();
      throw new HttpError(503, 'OVERLOADED', 'Too busy. Try again in a second.', {
        'retry-after': '1',
      });
    },
    leave() {
      inFlight--;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
