import { monitorEventLoopDelay } from 'node:perf_hooks';
import { HttpError } from '../../http/error.ts';
import { createRefusalLog } from '../../telemetry/refusals.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Admission } from '../admission.ts';

/** When new requests are turned away so that those in flight can finish. */
export interface OverloadLimits {
  readonly maxRequestsInFlight: number;
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
      logRefusal();
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
