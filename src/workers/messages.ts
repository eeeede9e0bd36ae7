import type { MetricsSnapshot } from '../telemetry/metrics.ts';

/** The replies of a worker, by the type of the message that requests them. */
export interface Replies {
  readonly ping: true;
  readonly metrics: MetricsSnapshot;
  /** `problem` is the reason why the worker is not ready; undefined if it is. */
  readonly readiness: { readonly problem: string | undefined };
  /** `problem` is the reason why the configuration could not be read again; undefined if it was. */
  readonly reload: { readonly problem: string | undefined };
}

/** A message from the primary to a worker. All but `stop` need a reply with the same id. */
export type PrimaryMessage =
  | { readonly type: 'stop' }
  | { readonly type: keyof Replies; readonly id: number };

/** A message from a worker to the primary. A worker is serving before it replies. */
export type WorkerMessage =
  | { readonly type: 'serving'; readonly url: string }
  | { readonly type: 'reply'; readonly id: number; readonly reply: Replies[keyof Replies] };
