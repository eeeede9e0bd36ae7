import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type AdminOptions, listenAdmin } from '../http/admin.ts';
import { createHealth } from '../http/health.ts';
import type { Listener } from '../http/listen.ts';
import { openRequests } from '../request/gateway-request.ts';
import { createEnvironment } from '../request/scope.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { shareMetrics, type WorkerMessage } from './worker.ts';

/** In milliseconds. The pause before a start doubles with each one that failed. */
const times = { pause: 100, maxPause: 5000, reply: 1500, exit: 1000 };

/** The primary ends after these failed starts in a row if no worker serves, and kills a worker this silent. */
const limits = { failedStarts: 5, silentSeconds: 12 };

type Options = AdminOptions & Readonly<Record<'workers' | 'shutdownGraceMs', number>>;

// Workers accept connections themselves: those queued in the primary would be lost with it.
cluster.schedulingPolicy = cluster.SCHED_NONE;

/** Serves from several processes with one public and one admin port; replaces those that exit or hang. */
export class Supervisor {
  /** Empty until a worker has served. */
  url = '';
  adminUrl: string | undefined;
  readonly #options: Options;
  readonly #telemetry: Telemetry;
  readonly #workers = new Set<Worker>();
  readonly #serving = new Set<Worker>();
  #admin: Listener | undefined;
  #failedStarts = 0;
  #reloadedAt = 0;
  #isStopping = false;

  constructor(options: Options, telemetry: Telemetry) {
    this.#options = options;
    this.#telemetry = telemetry;
  }

  /** Resolves once each worker serves or has failed once. @throws if the first one fails. */
  async start(): Promise<this> {
    const { metrics } = this.#telemetry;
    const all = shareMetrics(metrics);
    const { contentType } = all;
    const scrape = async () => ({ contentType, text: await all.clusterMetrics() });
    const health = createHealth(this.checkReady, () => this.#isStopping);
    const requests = openRequests(createEnvironment(this.#telemetry));
    this.#admin = await listenAdmin(requests, metrics, health, this.#options, scrape);
    this.adminUrl = this.#admin?.url;
    const startOne = () => new Promise<void>((...settle) => this.#keepRunning(...settle));
    // The first worker starts alone: it migrates the database, and a failed start is logged once.
    await startOne();
    await Promise.all(Array.from({ length: this.#options.workers - 1 }, startOne));
    return this;
  }

  /** Keeps a worker running. `onFailed` is called if none has ever served. */
  async #keepRunning(onStarted: () => void, onFailed: (error: Error) => void): Promise<void> {
    const { log } = this.#telemetry;
    while (!this.#isStopping) {
      const worker = cluster.fork();
      const { pid } = worker.process;
      const forkedAt = performance.now();
      this.#workers.add(worker);
      let silentSeconds = 0;
      const watch = setInterval(() => {
        if (this.#isStopping || !this.#serving.has(worker)) return;
        if (++silentSeconds < limits.silentSeconds) return;
        log.error({ pid }, 'worker does not respond: killing it');
        worker.process.kill('SIGKILL');
      }, 1000).unref();
      worker.on('message', ({ url }: WorkerMessage) => {
        silentSeconds = 0;
        if (url === undefined) return;
        log.info({ pid }, 'worker is serving');
        this.url = url;
        this.#failedStarts = 0;
        this.#serving.add(worker);
        if (this.#reloadedAt > forkedAt) worker.process.kill('SIGHUP');
        onStarted();
      });
      const [code, signal] = await new Promise<unknown[]>((resolve) => {
        worker.once('exit', (...how) => resolve(how));
        // The fork failed, as while the program is replaced, or a message to one that is ending.
        worker.on('error', (error) => worker.isDead() && resolve([Object(error).code]));
      });
      clearInterval(watch);
      this.#workers.delete(worker);
      if (!this.#serving.delete(worker)) this.#failedStarts++;
      if (this.#isStopping) return;
      if (this.url === '') return onFailed(new Error('A worker could not be started.'));
      log.error({ pid, code, signal }, 'worker exited');
      onStarted();
      if (this.#failedStarts >= limits.failedStarts && this.#serving.size === 0) {
        log.error({ failedStarts: this.#failedStarts }, 'no worker starts: giving up');
        await this.stop(new AbortController().signal);
        process.exit(1);
      }
      await wait(Math.min(times.pause * 2 ** this.#failedStarts, times.maxPause));
    }
  }

  /** Resolves if any worker is ready. @throws the reason of the last worker to respond if none is. */
  readonly checkReady = async (): Promise<void> => {
    if (this.#serving.size === 0) throw new Error('No worker is serving.');
    const signal = AbortSignal.timeout(times.reply);
    for (const worker of this.#serving) send(worker, 'isReady');
    const unready = new Set<Worker>();
    let reason = 'No worker responds.';
    try {
      for await (const [worker, { problem }] of on(cluster, 'message', { signal })) {
        if (problem === '') return;
        if (problem) reason = problem;
        if (problem && unready.add(worker).size >= this.#serving.size) break;
      }
    } catch {}
    throw new Error(reason);
  };

  /** Lets each worker read the configuration again, which it logs: one that is starting, when it serves. */
  async reload(): Promise<void> {
    this.#reloadedAt = performance.now();
    for (const worker of this.#serving) worker.process.kill('SIGHUP');
  }

  /** Lets all workers finish their requests, also those that are starting; `force` ends the wait. */
  async stop(force: AbortSignal): Promise<void> {
    this.#isStopping = true;
    const stopping = [...this.#workers];
    const exited = stopping.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    // This closes the primary's handle of the port, before the workers close theirs.
    for (const worker of stopping) worker.disconnect();
    for (const worker of stopping) {
      send(worker, 'stop');
      // One that is starting reads no messages. If it has just begun to listen, it still drains.
      if (!this.#serving.has(worker)) worker.process.kill('SIGTERM');
    }
    const grace = wait(this.#options.shutdownGraceMs + times.exit, undefined, { ref: false });
    await Promise.race([Promise.all(exited), grace, once(force, 'abort')]);
    for (const worker of stopping) worker.process.kill('SIGKILL');
    await this.#admin?.close(0);
  }
}

function send(worker: Worker, message: 'isReady' | 'stop'): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
