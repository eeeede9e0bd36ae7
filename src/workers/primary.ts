import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type AdminOptions, listenAdmin } from '../http/admin.ts';
import { createHealth } from '../http/health.ts';
import type { Listener } from '../http/listen.ts';
import { openRequests } from '../request/gateway-request.ts';
import { createEnvironment } from '../request/scope.ts';
import type { MetricsSnapshot } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { PrimaryMessage, WorkerMessage } from './worker.ts';
import { WorkerMetrics } from './worker-metrics.ts';

/** The primary gives up after this many consecutive failed starts if no worker is serving. */
const maxFailedStarts = 5;

/** A worker that misses this many consecutive pings, in about twelve seconds, is killed. */
const maxMissedPings = 5;

/** In milliseconds. Each failed start doubles the delay of the next one, up to the maximum. */
const delays = { restart: 100, maxRestart: 5000, ping: 1000 };

/** In milliseconds. `exit` is the time that a worker has to exit after the grace period. */
const timeouts = { reply: 1500, reload: 10_000, exit: 1000 };

/** A running gateway, in one process or several. */
export interface RunningGateway<Options = unknown> {
  /** The base address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  readonly adminUrl: string | undefined;
  /** Rejects with the reason if the backend is not available. */
  checkReady(): Promise<void>;
  /** Reads files again and puts them into effect. Rejects, and changes nothing, if one is invalid. */
  reload(options: Options): Promise<void>;
  /** Stops listening, finishes requests in flight and closes the backend; `force` ends the wait. */
  stop(force: AbortSignal): Promise<void>;
}

/** The settings of a supervisor; `workers` is their number. */
type SupervisorOptions = AdminOptions & Readonly<Record<'workers' | 'shutdownGraceMs', number>>;

/** Serves from several processes with one public and one admin port; replaces those that fail. */
export class Supervisor implements RunningGateway {
  /** Empty until a worker has served. */
  url = '';
  adminUrl: string | undefined;
  readonly checkReady = checkAnyReady;
  readonly reload = reloadAll;
  readonly #options: SupervisorOptions;
  readonly #telemetry: Telemetry;
  readonly #metrics = new WorkerMetrics();
  readonly #serving = new Set<Worker>();
  #admin: Listener | undefined;
  #failedStarts = 0;
  #isStopping = false;

  constructor(options: SupervisorOptions, telemetry: Telemetry) {
    this.#options = options;
    this.#telemetry = telemetry;
    // Workers accept connections themselves: those queued in the primary would be lost with it.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
  }

  /** Resolves once each worker serves or has failed once. @throws if the first one fails. */
  async start(): Promise<this> {
    const health = createHealth(checkAnyReady, () => this.#isStopping);
    const requests = openRequests(createEnvironment(this.#telemetry));
    this.#admin = await listenAdmin(requests, this, health, this.#options);
    this.adminUrl = this.#admin?.url;
    // The first worker starts alone: it migrates the database, and a failed start is logged once.
    await this.#startWorker();
    const others = Array.from({ length: this.#options.workers - 1 }, () => this.#startWorker());
    await Promise.all(others);
    return this;
  }

  /** Keeps a worker running. Resolves once it serves or exits. @throws if none has ever served. */
  #startWorker(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#keepRunning(resolve).catch((error) => {
        // Once one serves, an unexpected error ends the primary.
        if (this.url !== '') throw error;
        reject(error);
      });
    });
  }

  async #keepRunning(onStarted: () => void): Promise<void> {
    const { log } = this.#telemetry;
    while (!this.#isStopping) {
      const worker = cluster.fork();
      const { pid } = worker.process;
      worker.once('message', (message: WorkerMessage) => {
        if (!('url' in message)) return;
        log.info({ pid }, 'worker is serving');
        this.url = message.url;
        this.#failedStarts = 0;
        this.#serving.add(worker);
        onStarted();
        void this.#watch(worker);
      });
      const [code, signal] = await once(worker, 'exit').catch((error) => {
        // The fork failed, for example while the program is replaced by another version.
        // A message to one that has just ended fails, too; its exit follows.
        if (!worker.isDead()) return once(worker, 'exit');
        if (this.url === '') throw error;
        return [error.code];
      });
      const served = this.#serving.delete(worker);
      this.#metrics.keepCounts(worker);
      if (this.#isStopping) return;
      if (this.url === '') throw new Error('A worker could not be started.');
      log.error({ pid, code, signal }, 'worker exited');
      onStarted();
      if (!served) this.#failedStarts++;
      if (this.#failedStarts >= maxFailedStarts && this.#serving.size === 0) {
        const failedStarts = this.#failedStarts;
        log.error({ failedStarts }, 'workers exit before they serve: giving up');
        await this.stop(new AbortController().signal);
        process.exit(1);
      }
      const delay = this.#failedStarts === 0 ? 0 : delays.restart * 2 ** (this.#failedStarts - 1);
      await wait(Math.min(delay, delays.maxRestart));
    }
  }

  /** Pings a worker and kills it if it does not respond, so that it is replaced. */
  async #watch(worker: Worker): Promise<void> {
    for (let missed = 0; missed < maxMissedPings; ) {
      await wait(delays.ping, undefined, { ref: false });
      if (this.#isStopping || worker.isDead()) return;
      missed = await request(worker, 'ping').then(
        () => 0,
        () => missed + 1,
      );
    }
    const { pid } = worker.process;
    this.#telemetry.log.error({ pid }, 'worker does not respond: killing it');
    worker.process.kill('SIGKILL');
  }

  /** Returns the metrics of all workers, and the counts of the primary, which also drops log lines. */
  async scrape() {
    await Promise.all(
      [...this.#serving].map(async (worker) => {
        // A worker that does not respond keeps its last snapshot.
        const snapshot = await request(worker, 'metrics').catch(() => undefined);
        if (snapshot) this.#metrics.keep(worker, snapshot as MetricsSnapshot);
      }),
    );
    return this.#metrics.scrape(this.#telemetry.metrics);
  }

  /** Stops all workers, also those that are starting, as `RunningGateway.stop` does. */
  async stop(force: AbortSignal): Promise<void> {
    this.#isStopping = true;
    const forced = once(force, 'abort');
    const stopping = workers();
    const exited = stopping.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    // This closes the primary's handle of the port. Workers close theirs when they receive `stop`.
    for (const worker of stopping) worker.disconnect();
    for (const worker of stopping) {
      send(worker, { type: 'stop' });
      // One that is starting reads no messages. If it has just begun to listen, it still drains.
      if (!this.#serving.has(worker)) worker.process.kill('SIGTERM');
    }
    await Promise.race([
      Promise.all(exited),
      wait(this.#options.shutdownGraceMs + timeouts.exit, undefined, { ref: false }),
      forced,
    ]);
    for (const worker of stopping) worker.process.kill('SIGKILL');
    await this.#admin?.close(0);
  }
}

function workers(): Worker[] {
  // A worker that could not be forked may stay in the list.
  return Object.values(cluster.workers ?? {}).flatMap((worker) =>
    worker?.isDead() === false ? worker : [],
  );
}

function send(worker: Worker, message: PrimaryMessage): void {
  if (worker.isConnected()) worker.send(message, () => {});
}

let lastId = 0;

/** Returns a worker's reply. @throws the reason why there is none. */
async function request(
  worker: Worker,
  type: Exclude<PrimaryMessage['type'], 'stop'>,
  timeoutMs = timeouts.reply,
): Promise<unknown> {
  const id = ++lastId;
  const signal = AbortSignal.timeout(timeoutMs);
  const messages = on(worker, 'message', { signal, close: ['exit'] });
  send(worker, { type, id });
  try {
    for await (const [message] of messages) {
      if (message.id !== id) continue;
      if (message.problem !== undefined) throw new Error(message.problem);
      return message.reply;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new Error('A worker does not respond.');
}

/** Lets each worker read the configuration again. @throws the reason of the first that can't. */
async function reloadAll(): Promise<void> {
  const reloads = workers().map((worker) =>
    request(worker, 'reload', timeouts.reload).catch((error) => {
      // The replacement of a worker that has exited reads it too.
      if (!worker.isDead()) throw error;
    }),
  );
  // Waits for all of them, so that two reloads never overlap.
  await Promise.allSettled(reloads);
  await Promise.all(reloads);
}

/** Resolves if any worker is ready. @throws the reason of the first worker if none is. */
async function checkAnyReady(): Promise<void> {
  try {
    await Promise.any(workers().map((worker) => request(worker, 'readiness')));
  } catch (error) {
    const [first] = (error as AggregateError).errors as Error[];
    throw first ?? new Error('No worker is serving.');
  }
}
