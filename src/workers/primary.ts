import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { banner } from '../commands/banner.ts';
import type { ServeOptions, Service } from '../commands/serve.ts';
import { createAdmin } from '../server/admin.ts';
import { createHealth } from '../server/health.ts';
import { listen } from '../server/listener/listen.ts';
import type { Log } from '../telemetry/log.ts';
import { aggregate } from '../telemetry/metrics.ts';
import { Measurements } from './measurements.ts';
import type { Answer, Report, Request } from './messages.ts';

/** How often in a row workers may end before they serve, until the primary gives up if none serves. */
const maxFailedStarts = 5;

/** How long the next one waits after the first failed start, in milliseconds; then twice as long, ... */
const firstPauseMs = 100;

/** ... and so on up to this. */
const longestPauseMs = 5000;

/** How long a worker may take to answer, in milliseconds; one that is stuck is left out. */
const answerMs = 1500;

/** How long the primary waits before it pings a worker again, in milliseconds. */
const pingEveryMs = 1000;

/** How many pings in a row a worker may leave unanswered before it is killed: twelve seconds' worth. */
const maxMissedPings = 5;

/** How much longer than its grace a worker may take to end before it is killed, in milliseconds. */
const lateMs = 1000;

/**
 * Serves on several processes that share the public port, with one admin port for the whole. A
 * worker that ends is replaced.
 * @throws when the first worker can't serve, which has said why, or the admin port can't be had.
 */
export async function superviseWorkers(
  options: ServeOptions & { readonly workers: number },
  { log }: { readonly log: Log },
): Promise<Service> {
  const { workers: count, adminPort, shutdownGraceMs } = options;
  const serving = new Set<Worker>();
  const measurements = new Measurements();
  const complete = Promise.withResolvers<void>();
  let isStopping = false;
  let failedStarts = 0;

  // Workers accept by themselves. Connections that the primary hands out are lost with its queue.
  cluster.schedulingPolicy = cluster.SCHED_NONE;

  /** Forks a worker, and another one when it ends. */
  function fork(): Worker {
    const worker = cluster.fork();
    worker.on('message', (report: Report) => {
      if (report.tell !== 'serving') return;
      log.info({ pid: worker.process.pid }, 'a worker serves');
      failedStarts = 0;
      if (serving.add(worker).size === count) complete.resolve();
      void watch(worker);
    });
    worker.once('exit', (code, signal) => {
      const served = serving.delete(worker);
      measurements.end(worker);
      if (isStopping || url === '') return;
      log.error({ pid: worker.process.pid, code, signal }, 'a worker ended');
      if (!served) failedStarts++;
      if (failedStarts < maxFailedStarts || serving.size > 0) return void replace();
      log.error({ failedStarts }, 'workers end before they serve: giving up');
      stop(new AbortController().signal).then(() => process.exit(1));
    });
    return worker;
  }

  /** Kills a worker that is stopped or stuck, so that it is replaced. */
  async function watch(worker: Worker): Promise<void> {
    for (let missed = 0; missed < maxMissedPings; ) {
      await wait(pingEveryMs, undefined, { ref: false });
      if (isStopping || worker.isDead()) return;
      missed = (await question(worker, 'ping')) === undefined ? missed + 1 : 0;
    }
    log.error({ pid: worker.process.pid }, 'a worker does not answer and is killed');
    worker.process.kill('SIGKILL');
  }

  async function replace(): Promise<void> {
    const pauseMs = failedStarts === 0 ? 0 : firstPauseMs * 2 ** (failedStarts - 1);
    await wait(Math.min(pauseMs, longestPauseMs));
    if (!isStopping) fork();
  }

  // The first one alone: it brings the database up to date, and a bad start is told once.
  let url = '';
  url = await addressOf(fork());
  const health = createHealth({ checkReady: oneIsReady, isDraining: () => isStopping });
  const scrape = async () => {
    await Promise.all(
      workers().map(async (worker) => {
        const answer = await question(worker, 'metrics');
        if (answer !== undefined) measurements.note(worker, answer.metrics);
      }),
    );
    return aggregate(await measurements.all());
  };
  const admin =
    adminPort === undefined
      ? undefined
      : await listen(createAdmin({ scrape }, health), { host: options.host, port: adminPort });
  for (let others = count - 1; others > 0; others--) fork();
  await complete.promise;

  async function stop(hurry: AbortSignal): Promise<void> {
    isStopping = true;
    const hurried = once(hurry, 'abort');
    const stopping = workers();
    const ended = stopping.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    // The primary lets go of the port before it asks anyone to stop, and workers wait for that.
    for (const worker of stopping) worker.disconnect();
    for (const worker of stopping) ask(worker, { ask: 'stop' });
    await Promise.race([
      Promise.all(ended),
      wait(shutdownGraceMs + lateMs, undefined, { ref: false }),
      hurried,
    ]);
    for (const worker of stopping) worker.process.kill('SIGKILL');
    await admin?.close(0);
  }

  return { url, banner: banner(url, admin?.url, options, count), checkReady: oneIsReady, stop };
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

function ask(worker: Worker, request: Request): void {
  if (worker.isConnected()) worker.send(request, () => {});
}

/** The address at which a worker serves. @throws when it ends before. */
function addressOf(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (report: Report) => {
      if (report.tell === 'serving') resolve(report.url);
    });
    worker.once('exit', () => reject(new Error('A worker could not be started.')));
  });
}

let questions = 0;

/** What a worker answers; undefined when it ends or does not answer in time. */
function question<Tell extends Answer['tell']>(
  worker: Worker,
  tell: Tell,
): Promise<Extract<Answer, { tell: Tell }> | undefined> {
  const id = questions++;
  return new Promise((resolve) => {
    const timeout = setTimeout(() => settle(undefined), answerMs);
    const onExit = () => settle(undefined);
    const onMessage = (report: Report) => {
      if (report.tell === tell && 'id' in report && report.id === id) {
        settle(report as Extract<Answer, { tell: Tell }>);
      }
    };
    const settle = (answer: Extract<Answer, { tell: Tell }> | undefined) => {
      clearTimeout(timeout);
      worker.off('message', onMessage).off('exit', onExit);
      resolve(answer);
    };
    worker.on('message', onMessage).on('exit', onExit);
    ask(worker, { ask: tell, id });
  });
}

/** One that is ready is enough: the others are being replaced. @throws with the reason why none is. */
async function oneIsReady(): Promise<void> {
  const answers = workers().map(async (worker) => {
    const answer = await question(worker, 'readiness');
    if (answer === undefined) throw new Error('No worker answers.');
    if (answer.problem !== undefined) throw new Error(answer.problem);
  });
  try {
    await Promise.any(answers);
  } catch (error) {
    const [first] = (error as AggregateError).errors as Error[];
    throw first ?? new Error('No worker serves.');
  }
}
