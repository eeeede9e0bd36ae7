import type { Worker } from 'node:cluster';
import { addCounts, type MetricsSnapshot } from '../telemetry/metrics.ts';

/** The metrics of all workers, including those that have exited. */
export class WorkerMetrics {
  /** The last snapshot of each worker. A stuck worker keeps its last one, so no sum decreases. */
  readonly #live = new Map<Worker, MetricsSnapshot>();
  #exited = Promise.resolve<MetricsSnapshot>([]);

  /** Records a worker's snapshot, unless the worker has exited: its counts would be added twice. */
  record(worker: Worker, snapshot: MetricsSnapshot): void {
    if (!worker.isDead()) this.#live.set(worker, snapshot);
  }

  /** Keeps the counts of a worker that has exited. */
  recordExit(worker: Worker): void {
    const last = this.#live.get(worker) ?? [];
    this.#live.delete(worker);
    this.#exited = this.#exited.then((sum) => addCounts(sum, last));
  }

  /** Returns one snapshot per live worker, and one of all exited workers together. */
  async all(): Promise<readonly MetricsSnapshot[]> {
    const live = [...this.#live.values()];
    return [...live, await this.#exited];
  }
}
