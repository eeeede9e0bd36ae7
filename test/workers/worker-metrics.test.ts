import type { Worker } from 'node:cluster';
import { describe, expect, it } from 'vitest';
import { type Release, Share } from '../../src/limits/share.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { WorkerMetrics } from '../../src/workers/worker-metrics.ts';

const liveWorker = () => ({ isDead: () => false }) as Worker;

describe('the metrics of all workers together', () => {
  it('show what is used and how often each limit refused', async () => {
    const processes = [new Metrics(), new Metrics()].map((metrics) => {
      const share = new Share('bytes', { total: 100, perKey: 60 });
      metrics.watchLimit(share);
      return { metrics, share };
    });
    const scrape = async () => {
      const workers = new WorkerMetrics();
      for (const { metrics } of processes) workers.record(liveWorker(), await metrics.snapshot());
      const { text } = await workers.scrape(new Metrics());
      return text.match(/^petstore_limit_\w+\{.*$/gm);
    };
    expect(await scrape()).toEqual([
      'petstore_limit_used{limit="bytes"} 0',
      'petstore_limit_refused_total{limit="bytes",by="key"} 0',
      'petstore_limit_refused_total{limit="bytes",by="all"} 0',
    ]);
    const releases = processes.map(({ share }) => share.take(1, 50) as Release);
    for (const { share } of processes) {
      share.take(1, 11);
      for (const amount of [51, 60]) share.take(2, amount);
    }
    releases[0]?.();
    expect(await scrape()).toEqual([
      'petstore_limit_used{limit="bytes"} 50',
      'petstore_limit_refused_total{limit="bytes",by="key"} 2',
      'petstore_limit_refused_total{limit="bytes",by="all"} 4',
    ]);
  });

  it('keep the counts of a worker that has exited, but not its gauges', async () => {
    const workers = new WorkerMetrics();
    const metrics = new Metrics();
    metrics.refused('requests_in_flight', 503, 3);
    metrics.watchLimit({ name: 'bytes', used: 5, refused: { key: 1, all: 0 } });
    const snapshot = await metrics.snapshot();
    const worker = liveWorker();
    workers.record(worker, snapshot);
    workers.recordExit(worker);
    workers.record(liveWorker(), snapshot);
    const { text } = await workers.scrape(new Metrics());
    expect(text).toContain(
      'petstore_requests_refused_total{reason="requests_in_flight",status="503"} 6',
    );
    expect(text).toContain('petstore_limit_refused_total{limit="bytes",by="key"} 2');
    expect(text).toContain('petstore_limit_used{limit="bytes"} 5');
  });
});
