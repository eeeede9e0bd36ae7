import { setTimeout as wait } from 'node:timers/promises';
import { load } from './load.ts';
import type { Stack } from './stacks.ts';
import { type Fixtures, type RunningServer, startServer } from './start.ts';
import type { Workload } from './workloads.ts';

/** The metrics of one load, of a process of its own. */
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
 * Starts each server anew in each round, warms it up, and puts it under load: one process of a build may
 * need 40 % more CPU than another for its whole life. Each round has another order. A server that fails
 * is removed, with the reason in its result.
 */
export async function measure(
  { stacks, workloads, rounds, seconds }: Plan,
  fixtures: Fixtures,
  report: (text: string) => void,
): Promise<Result[]> {
  const results = new Map<Stack, Result>();
  for (const stack of stacks) {
    const reason = stack.unsupportedReason?.();
    if (reason !== undefined) report(`${stack.title}: ${reason}`);
    const empty = new Map<Workload, Round[]>(workloads.map((workload) => [workload, []]));
    results.set(stack, { stack, rounds: empty, ...(reason !== undefined && { reason }) });
  }
  for (let round = 1; round <= rounds; round++) {
    const running = shuffle(stacks.filter((stack) => results.get(stack)?.reason === undefined));
    const loads = (rounds + 1 - round) * running.length * workloads.length * 2;
    const minutes = Math.ceil((loads * (seconds + 0.2)) / 60);
    report(`Round ${round} of ${rounds}: ${running.length} servers, about ${minutes} min left`);
    for (const stack of running) {
      try {
        await using server = await startServer(stack, workloads, fixtures);
        for (const workload of shuffle(workloads)) await runRound(server, workload, seconds);
        for (const workload of shuffle(workloads)) {
          const measured = await runRound(server, workload, seconds);
          results.get(stack)?.rounds.get(workload)?.push(measured);
        }
      } catch (error) {
        const reason = (error as Error).message;
        results.set(stack, { stack, rounds: new Map(), reason });
        report(`${stack.title}: ${reason}`);
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
