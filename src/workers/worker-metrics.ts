import type { Worker } from 'node:cluster';
import { Registry } from '@prometheus-io/client';
import type { Metrics, MetricsSnapshot } from '../telemetry/metrics.ts';

/** The metrics of all workers, including those that have exited. */
export class WorkerMetrics {
  /** The last snapshot of each worker. A stuck worker keeps its last one, so no sum decreases. */
  readonly #live = new Map<Worker, MetricsSnapshot>();
  /** The counts of exited workers are kept: Prometheus reads a decrease as a counter reset. */
  #exited: Promise<MetricsSnapshot> = Promise.resolve([]);

  /** Keeps a worker's snapshot, unless the worker has exited: its counts would be added twice. */
  keep(worker: Worker, snapshot: MetricsSnapshot): void {
    if (!worker.isDead()) this.#live.set(worker, snapshot);
  }

  keepCounts(worker: Worker): void {
    const last = (this.#live.get(worker) ?? []).filter(({ type }) => type !== 'gauge');
    this.#live.delete(worker);
    this.#exited = this.#exited.then((sum) => Registry.aggregate([sum, last]).getMetricsAsJSON());
  }

  /**
   * Returns the metrics of all workers, with the primary's counts: sums, the worst state of
   * circuits and of the configuration, and the average event-loop lag.
   */
  async scrape(primary: Metrics) {
    const workers = [...this.#live.values(), await this.#exited];
    const own = (await primary.snapshot()).filter(
      ({ type, aggregator }) => type !== 'gauge' || aggregator === 'min',
    );
    const registry = Registry.aggregate([...workers, own]);
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    return { contentType: registry.contentType, text: await registry.metrics() };
  }
}
