import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './trace.ts';

/** The log and the metrics of a process. */
export interface Reporting {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The log, the metrics and the tracing of a process. */
export interface Telemetry extends Reporting {
  readonly tracing: Tracing;
}
