import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './trace.ts';

/** Where everything that runs tells what it does. */
export interface Telemetry {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}
