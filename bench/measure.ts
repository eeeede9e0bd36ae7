import { setTimeout as wait } from 'node:timers/promises';
import { load } from './load.ts';
import type { Stack } from './stacks.ts';
import { type Fixtures, type RunningServer, startServer } from './start.ts';
import type { Workload } from './workloads.ts';

/** The metrics of one load. */
export interface Round {
  /** The server's CPU time per request, in microseconds. */
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

/** The rounds of a server, or the reason why it was not measured. */
export interface Result {
  readonly stack: Stack;
  readonly rounds: ReadonlyMap<Workload, Round[]>;
  readonly reason?: string;
}

/** What to measure, how often, and for how long at a time. */
export interface Plan {
  readonly stacks: readonly Stack[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly seconds: number;
}

/**
 * Starts all servers and puts them under load in turn. Each round, after a first one to warm up, has
 * another order: in a fixed one, the same neighbours make a server slower in every round. A server
 * that fails is removed, with the reason in its result.
 */
export async function measure(
  { stacks, workloads, rounds, seconds }: Plan,
  fixtures: Fixtures,
  report: (text: string) => void,
): Promise<Result[]> {
  await using servers = new AsyncDisposableStack();
  const running = new Map<Stack, RunningServer>();
  const results = new Map<Stack, Result>();
  const fail = (stack: Stack, reason: string) => {
    running.delete(stack);
    results.set(stack, { stack, rounds: new Map(), reason });
    report(`${stack.title}: ${reason}`);
  };

  for (const stack of stacks) {
    const unsupported = stack.unsupportedReason?.();
    if (unsupported !== undefined) {
      fail(stack, unsupported);
      continue;
    }
    report(`Starting ${stack.title}`);
    try {
      running.set(stack, servers.use(await startServer(stack, workloads, fixtures)));
      results.set(stack, { stack, rounds: new Map(workloads.map((workload) => [workload, []])) });
    } catch (error) {
      fail(stack, (error as Error).message);
    }
  }

  const pairs = [...running.keys()].flatMap((stack) =>
    workloads.map((workload) => ({ stack, workload })),
  );
  for (let round = 0; round <= rounds; round++) {
    const minutes = ((rounds + 1 - round) * pairs.length * (seconds + 0.2)) / 60;
    const name = round === 0 ? 'Warm-up' : `Round ${round} of ${rounds}`;
    report(`${name}: ${pairs.length} loads, about ${Math.ceil(minutes)} min left`);
    for (const { stack, workload } of shuffle(pairs)) {
      const server = running.get(stack);
      if (server === undefined) continue;
      try {
        const measured = await runRound(server, workload, seconds);
        if (round > 0) results.get(stack)?.rounds.get(workload)?.push(measured);
      } catch (error) {
        fail(stack, `${workload.name}: ${(error as Error).message}`);
      }
    }
  }
  return [...results.values()];
}

async function runRound(
  { process, targets }: RunningServer,
  workload: Workload,
  seconds: number,
): Promise<Round> {
  const target = targets.get(workload);
  if (target === undefined) throw new Error(`Expected a server for ${workload.name}.`);
  const readCpuMicros = process.startCpuClock();
  const { requests, p99Ms, ...loaded } = await load(target, workload.keys, seconds);
  // The server still closes the connections and processes the requests that were in flight.
  await wait(50);
  const cpuMicros = readCpuMicros() / requests;
  process.clearLog();
  return { cpuMicros, requestsPerSecond: requests / loaded.seconds, p99Ms };
}

/** Returns the items in a random order (Fisher and Yates). */
function shuffle<T>(items: readonly T[]): T[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
  }
  return shuffled;
}
