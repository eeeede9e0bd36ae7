import type { Measured } from '../telemetry/metrics.ts';

/** What the primary asks of a worker. A question is answered under its id. */
export type Request =
  | { readonly ask: 'stop' }
  | { readonly ask: 'ping' | 'metrics' | 'readiness'; readonly id: number };

/** What a worker answers. */
export type Answer =
  | { readonly tell: 'ping'; readonly id: number }
  | { readonly tell: 'metrics'; readonly id: number; readonly metrics: Measured }
  /** The reason why it is not ready; undefined when it is. */
  | { readonly tell: 'readiness'; readonly id: number; readonly problem: string | undefined };

/** What a worker tells the primary. */
export type Report = { readonly tell: 'serving'; readonly url: string } | Answer;
