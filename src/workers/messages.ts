import type { Measured } from '../telemetry/metrics.ts';

/** What the primary asks of a worker. */
export type Request =
  | { readonly ask: 'stop' }
  /** Answered with `metrics` under the same id. */
  | { readonly ask: 'metrics'; readonly id: number };

/** What a worker tells the primary. */
export type Report =
  | { readonly tell: 'serving'; readonly url: string }
  | { readonly tell: 'metrics'; readonly id: number; readonly metrics: Measured };
