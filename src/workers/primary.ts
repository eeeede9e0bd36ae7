import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { banner } from '../commands/banner.ts';
import type { ServeOptions, Service } from '../commands/serve.ts';
import { createAdmin } from '../server/admin.ts';
import { createByteLimits } from '../server/byte-limits.ts';
import { createHealth } from '../server/health.ts';
import { listen } from '../server/listener/listen.ts';
import type { Log } from '../telemetry/log.ts';
import { addCounts, aggregate, type Metrics } from '../telemetry/metrics.ts';
import type { PrimaryMessage, WorkerMessage, WorkerReply } from './messages.ts';
import { WorkerMetrics } from './worker-metrics.ts';

/** The primary gives up after this many consecutive failed starts if no worker is serving. */
const maxFailedStarts = 5;

/** The delay after the first failed start, in milliseconds. Each further failure doubles it. */
const minRestartDelayMs = 100;

/** The maximum delay after a failed start, in milliseconds. */
const maxRestartDelayMs = 5000;

/** The timeout of a worker's reply, in milliseconds. */
const replyTimeoutMs = 1500;

/** The interval between two pings of a worker, in milliseconds. */
const pingIntervalMs = 1000;

/** A worker that misses this many consecutive pings, in about twelve seconds, is killed. */
const maxMissedPings = 5;

/** How long after the grace period a worker that has not exited is killed, in milliseconds. */
const killDelayMs = 1000;

/**
 * Serves from several processes that share the public port, with one admin port for all of them. A
 * worker that exits is replaced.
 * @throws if the first worker cannot start (it logs the reason itself), or if the admin port is not
 *   available.
 */
export async function superviseWorkers(
  options: ServeOptions & { readonly workers: number },
  { log, metrics: own }: { readonly log: Log; readonly metrics: Metrics },
): Promise<Service> {
  const { workers: count, adminPort, shutdownGraceMs } = options;
  const serving = new Set<Worker>();
  const metrics = new WorkerMetrics();
  const complete = Promise.withResolvers<void>();
  let isStopping = false;
  let failedStarts = 0;

  // Workers accept connections themselves: connections queued in the primary would be lost when it
  // exits.
  cluster.schedulingPolicy = cluster.SCHED_NONE;

  /** Forks a worker, and replaces it when it exits. */
  function fork(): Worker {
    const worker = cluster.fork();
    worker.on('message', (message: WorkerMessage) => {
      if (message.type !== 'serving') return;
      log.info({ pid: worker.process.pid }, 'worker is serving');
      failedStarts = 0;
      if (serving.add(worker).size === count) complete.resolve();
      void watch(worker);
    });
    worker.once('exit', (code, signal) => {
      const served = serving.delete(worker);
      metrics.recordExit(worker);
      if (isStopping || url === '') return;
      log.error({ pid: worker.process.pid, code, signal }, 'worker exited');
      if (!served) failedStarts++;
      if (failedStarts < maxFailedStarts || serving.size > 0) return void replace();
      log.error({ failedStarts }, 'workers exit before they serve: giving up');
      stop(new AbortController().signal).then(() => process.exit(1));
    });
    return worker;
  }

  /** Pings a worker and kills it if it does not respond, so that it is replaced. */
  async function watch(worker: Worker): Promise<void> {
    for (let missed = 0; missed < maxMissedPings; ) {
      await wait(pingIntervalMs, undefined, { ref: false });
      if (isStopping || worker.isDead()) return;
      missed = (await request(worker, 'ping')) === undefined ? missed + 1 : 0;
    }
    log.error({ pid: worker.process.pid }, 'worker does not respond: killing it');
    worker.process.kill('SIGKILL');
  }

  async function replace(): Promise<void> {
    const delayMs = failedStarts === 0 ? 0 : minRestartDelayMs * 2 ** (failedStarts - 1);
    await wait(Math.min(delayMs, maxRestartDelayMs));
    if (!isStopping) fork();
  }

  // The first worker starts alone: it migrates the database, and a failed start is logged once.
  let url = '';
  url = await waitForUrl(fork());
  const health = createHealth({ checkReady: checkAnyReady, isDraining: () => isStopping });
  const scrape = async () => {
    await Promise.all(
      workers().map(async (worker) => {
        const reply = await request(worker, 'metrics');
        if (reply !== undefined) metrics.record(worker, reply.metrics);
      }),
    );
    // The primary also counts the log lines that it drops.
    return aggregate([...(await metrics.all()), await addCounts([], await own.snapshot())]);
  };
  const admin =
    adminPort === undefined
      ? undefined
      : await listen(createAdmin({ scrape }, health), createByteLimits(own), {
          host: options.host,
          port: adminPort,
        });
  for (let others = count - 1; others > 0; others--) fork();
  await complete.promise;

  async function stop(force: AbortSignal): Promise<void> {
    isStopping = true;
    const forced = once(force, 'abort');
    const stopping = workers();
    const exited = stopping.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    // This closes the primary's handle of the port. Workers close theirs when they receive `stop`.
    for (const worker of stopping) worker.disconnect();
    for (const worker of stopping) send(worker, { type: 'stop' });
    await Promise.race([
      Promise.all(exited),
      wait(shutdownGraceMs + killDelayMs, undefined, { ref: false }),
      forced,
    ]);
    for (const worker of stopping) worker.process.kill('SIGKILL');
    await admin?.close(0);
  }

  return { url, banner: banner(url, admin?.url, options, count), checkReady: checkAnyReady, stop };
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

function send(worker: Worker, message: PrimaryMessage): void {
  if (worker.isConnected()) worker.send(message, () => {});
}

/** Returns the address that a worker serves on. @throws if the worker exits before it serves. */
function waitForUrl(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'serving') resolve(message.url);
    });
    worker.once('exit', () => reject(new Error('A worker could not be started.')));
  });
}

let lastId = 0;

/** Returns a worker's reply; undefined if it exits or times out. */
function request<Type extends WorkerReply['type']>(
  worker: Worker,
  type: Type,
): Promise<Extract<WorkerReply, { type: Type }> | undefined> {
  const id = ++lastId;
  return new Promise((resolve) => {
    const timeout = setTimeout(() => settle(undefined), replyTimeoutMs);
    const onExit = () => settle(undefined);
    const onMessage = (message: WorkerMessage) => {
      if (message.type === type && 'id' in message && message.id === id) {
        settle(message as Extract<WorkerReply, { type: Type }>);
      }
    };
    const settle = (reply: Extract<WorkerReply, { type: Type }> | undefined) => {
      clearTimeout(timeout);
      worker.off('message', onMessage).off('exit', onExit);
      resolve(reply);
    };
    worker.on('message', onMessage).on('exit', onExit);
    send(worker, { type, id });
  });
}

/** Resolves if any worker is ready. @throws the reason of the first worker if none is. */
async function checkAnyReady(): Promise<void> {
  const checks = workers().map(async (worker) => {
    const reply = await request(worker, 'readiness');
    if (reply === undefined) throw new Error('No worker responds.');
    if (reply.problem !== undefined) throw new Error(reply.problem);
  });
  try {
    await Promise.any(checks);
  } catch (error) {
    const [first] = (error as AggregateError).errors as Error[];
    throw first ?? new Error('No worker is serving.');
  }
}
