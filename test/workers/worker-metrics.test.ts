import type { Worker } from 'node:cluster';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { WorkerMetrics } from '../../src/workers/worker-metrics.ts';

const liveWorker = () => ({ isDead: () => false }) as Worker;

describe('the metrics of all workers together', () => {
  it('show what is used and how often each limit refused', async () => {
    const workers = new WorkerMetrics();
    for (const used of [0, 50]) {
      const metrics = new Metrics();
      metrics.watchLimit({ name: 'bytes', used, refused: { key: 1, all: 2, unknown: 3 } });
      metrics.watchReady(() => used > 0);
      workers.keep(liveWorker(), await metrics.snapshot());
    }
    const { text } = await workers.scrape(new Metrics());
    // As /readyz of the primary process.
    expect(text).toContain('\npetstore_ready 1\n');
    expect(text.match(/^petstore_limit_\w+\{.*$/gm)).toEqual([
      'petstore_limit_used{limit="bytes"} 50',
      'petstore_limit_refused_total{limit="bytes",by="key"} 2',
      'petstore_limit_refused_total{limit="bytes",by="all"} 4',
      'petstore_limit_refused_total{limit="bytes",by="unknown"} 6',
    ]);
  });

  it('keep the counts of a worker that has exited, but not its gauges', async () => {
    const workers = new WorkerMetrics();
    const metrics = new Metrics();
    metrics.refused('requests_in_flight', 503, 3);
    metrics.watchLimit({ name: 'bytes', used: 5, refused: { key: 1, all: 0, unknown: 0 } });
    const snapshot = await metrics.snapshot();
    const worker = liveWorker();
    workers.keep(worker, snapshot);
    workers.keepCounts(worker);
    workers.keep(liveWorker(), snapshot);
    const { text } = await workers.scrape(new Metrics());
    expect(text).toContain(
      'petstore_requests_refused_total{reason="requests_in_flight",status="503"} 6',
    );
    expect(text).toContain('petstore_limit_refused_total{limit="bytes",by="key"} 2');
    expect(text).toContain('petstore_limit_used{limit="bytes"} 5');
  });
});
