import { monitorEventLoopDelay } from 'node:perf_hooks';

/** When new requests are turned away so that those in flight can finish. */
export interface OverloadLimits {
  readonly maxRequestsInFlight: number;
  /** How far the event loop may lag, in milliseconds. */
  readonly maxEventLoopLagMs: number;
}

/** Decides, before anything is spent on a request, whether it is taken in. */
export interface OverloadGuard extends Disposable {
  /** Takes a request in; false when it must be turned away. Each `true` needs one `leave`. */
  enter(): boolean;
  leave(): void;
}

/** How often the lag is looked at, in milliseconds. */
const intervalMs = 250;

/** Starts to watch the event loop; disposing of the guard stops it. */
export function openOverloadGuard(limits: OverloadLimits): OverloadGuard {
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
      if (lags || inFlight >= limits.maxRequestsInFlight) return false;
      inFlight++;
      return true;
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
