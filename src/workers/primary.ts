import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { banner } from '../commands/banner.ts';
import type { ServeOptions, Service } from '../commands/serve.ts';
import { createAdmin } from '../server/admin.ts';
import { createHealth } from '../server/health.ts';
import { listen } from '../server/listen.ts';
import type { Log } from '../telemetry/log.ts';
import { aggregate, type Measured, type Metrics } from '../telemetry/metrics.ts';
import type { Report, Request } from './messages.ts';

/** How often in a row a worker may end before it serves, until the primary gives up. */
const maxFailedStarts = 5;

/** How long a worker may take to answer, in milliseconds; one that is stuck is left out. */
const answerMs = 2000;

/** How much longer than its grace a worker may take to end before it is killed, in milliseconds. */
const lateMs = 1000;

/**
 * Serves on several processes that share the public port, with one admin port for the whole. A
 * worker that ends is replaced.
 * @throws when the first worker can't serve, which has said why, or the admin port can't be had.
 */
export async function superviseWorkers(
  options: ServeOptions & { readonly workers: number },
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): Promise<Service> {
  const { workers: count, adminPort, shutdownGraceMs } = options;
  let isStopping = false;
  let failedStarts = 0;
  let url = '';

  /** Forks a worker, and another one when it ends. */
  function fork(): Worker {
    const worker = cluster.fork();
    let served = false;
    worker.on('message', (report: Report) => {
      if (report.tell !== 'serving') return;
      served = true;
      log.info({ pid: worker.process.pid }, 'a worker serves');
      failedStarts = 0;
    });
    worker.once('exit', (code, signal) => {
      if (isStopping || url === '') return;
      log.error({ pid: worker.process.pid, code, signal }, 'a worker ended');
      if (!served && ++failedStarts >= maxFailedStarts) {
        log.error({ failedStarts }, 'workers end before they serve: giving up');
        stop().then(() => process.exit(1));
      } else {
        fork();
      }
    });
    return worker;
  }

  // The first one alone: it brings the database up to date, and a bad start is told once.
  url = await serving(fork());
  await Promise.all(Array.from({ length: count - 1 }, () => serving(fork())));

  const health = createHealth({
    // One that is ready is enough: the others are being replaced.
    checkReady: () => readyAt(url),
    isDraining: () => isStopping,
  });
  const scrape = async () => aggregate(await Promise.all(workers().map(measured)));
  const admin =
    adminPort === undefined
      ? undefined
      : await listen(
          createAdmin({ scrape }, health),
          { ...options, port: adminPort },
          { log, metrics },
        );

  async function stop(): Promise<void> {
    isStopping = true;
    const ended = workers().map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of workers()) ask(worker, { ask: 'stop' });
    await Promise.race([
      Promise.all(ended),
      wait(shutdownGraceMs + lateMs, undefined, { ref: false }),
    ]);
    for (const worker of workers()) worker.process.kill('SIGKILL');
    await admin?.close(0);
  }

  return { url, banner: banner(url, admin?.url, options, count), stop };
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

function ask(worker: Worker, request: Request): void {
  if (worker.isConnected()) worker.send(request, () => {});
}

/** The address at which a worker serves. @throws when it ends before. */
function serving(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (report: Report) => {
      if (report.tell === 'serving') resolve(report.url);
    });
    worker.once('exit', () => reject(new Error('A worker could not be started.')));
  });
}

let requests = 0;

/** What a worker has measured; nothing when it ends or does not answer in time. */
function measured(worker: Worker): Promise<Measured> {
  const id = requests++;
  return new Promise((resolve) => {
    const timeout = setTimeout(() => settle([]), answerMs);
    const onExit = () => settle([]);
    const onMessage = (report: Report) => {
      if (report.tell === 'metrics' && report.id === id) settle(report.metrics);
    };
    const settle = (metrics: Measured) => {
      clearTimeout(timeout);
      worker.off('message', onMessage).off('exit', onExit);
      resolve(metrics);
    };
    worker.on('message', onMessage).on('exit', onExit);
    ask(worker, { ask: 'metrics', id });
  });
}

/** Asks for readiness where everybody does, at the shared port. @throws with the reason why not. */
async function readyAt(url: string): Promise<void> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerMs) });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim().replace(/^not ready: /, ''));
}
