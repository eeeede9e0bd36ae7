import type { MetricsSnapshot } from '../telemetry/metrics.ts';

/** A message from the primary to a worker. All but `stop` need a reply with the same id. */
export type PrimaryMessage =
  | { readonly type: 'stop' }
  | { readonly type: 'ping' | 'metrics' | 'readiness'; readonly id: number };

/** A worker's reply to a message of the same type and id. */
export type WorkerReply =
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot }
  /** `problem` is the reason why the worker is not ready; undefined if it is. */
  | { readonly type: 'readiness'; readonly id: number; readonly problem: string | undefined };

/** A message from a worker to the primary. */
export type WorkerMessage = { readonly type: 'serving'; readonly url: string } | WorkerReply;
