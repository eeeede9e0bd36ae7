import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './trace.ts';

/** The log, the metrics and the tracing of a process. */
export interface Telemetry {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}
