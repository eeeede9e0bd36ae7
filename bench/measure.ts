import { randomUUID } from 'node:crypto';
import type { Comparison, Entry } from './comparison.ts';
import { readBusyMs, readCpuMs } from './cores.ts';
import { type LoadGenerator, type LoadResult, usualConnections } from './load.ts';
import type { Stack } from './stacks.ts';
import { type RunningServer, type Surroundings, startServer } from './start.ts';
import { usualWorkload, type Workload } from './workloads.ts';

/** How much is measured. Times in seconds. */
export interface Plan {
  /** How often each server is started anew: two equal ones differ for as long as they live. */
  readonly servers: number;
  /** Of each server, before its first round. */
  readonly warmUpSeconds: number;
  /** Of each server. */
  readonly rounds: number;
  /** Of load before each round: while others were measured, connections have been closed. */
  readonly leadInSeconds: number;
  readonly secondsPerRound: number;
}

/** What one round of load showed. */
export interface Round {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The server's time on its core for one request, in microseconds. */
  readonly cpuMicros: number;
  /** REST calls for one request; below the expected where a server let requests share them. */
  readonly callsPerRequest: number;
  /** How much of its core the server used, 0 to 1. */
  readonly serverCoreShare: number;
  /** How much of their core the REST service and the load used, 0 to 1. */
  readonly loadCoreShare: number;
  /** How much of the two cores other programs used, 0 to 2. */
  readonly othersShare: number;
}

/** What an entry of a comparison showed. */
export interface Result extends Entry {
  readonly rounds: readonly Round[];
  readonly peakMemoryBytes: number;
}

/** What all entries of a comparison showed. */
export interface ComparisonResult {
  readonly comparison: Comparison;
  readonly results: readonly Result[];
}

/** How long a server took from its spawn to its first right answer, each time. */
export interface StartResult {
  readonly stack: Stack;
  readonly startMs: readonly number[];
}

/** What measuring needs, and whom it tells how it goes. */
export interface Bench extends Surroundings {
  readonly plan: Plan;
  readonly generator: LoadGenerator;
  readonly progress: (text: string) => void;
  /** Told of a server that failed; the others go on without it. */
  readonly problem: (text: string) => void;
}

/** Measures the entries round by round in turns: a moment that disturbs one disturbs all. */
export async function measure(comparison: Comparison, bench: Bench): Promise<ComparisonResult> {
  const results = new Map<Entry, { rounds: Round[]; peakMemoryBytes: number }>(
    comparison.entries.map((entry) => [entry, { rounds: [], peakMemoryBytes: 0 }]),
  );
  for (let turn = 1; turn <= bench.plan.servers; turn++) {
    await measureServers(comparison, results, bench);
  }
  return { comparison, results: [...results].map(([entry, result]) => ({ ...entry, ...result })) };
}

/** Starts a server for each entry and measures its rounds; an entry that fails is taken out. */
async function measureServers(
  comparison: Comparison,
  results: Map<Entry, { rounds: Round[]; peakMemoryBytes: number }>,
  bench: Bench,
): Promise<void> {
  const { plan } = bench;
  await using servers = new AsyncDisposableStack();
  const running = new Map<Entry, RunningServer>();
  const attempt = async (entry: Entry, what: string, task: () => Promise<void>) => {
    const where = `${comparison.name}: ${entry.workload.name}, ${entry.stack.name}`;
    bench.progress(`${where}, ${what}`);
    await task().catch((error: Error) => {
      running.delete(entry);
      results.delete(entry);
      bench.problem(`${where}: ${error.message}`);
    });
  };

  for (const entry of results.keys()) {
    await attempt(entry, 'start and warm-up', async () => {
      const server = servers.use(await startServer(entry.stack, entry.workload, bench));
      await load(server, entry.workload, plan.warmUpSeconds, bench);
      running.set(entry, server);
    });
  }
  for (let round = 1; round <= plan.rounds; round++) {
    for (const [entry, server] of running) {
      await attempt(entry, `round ${round} of ${plan.rounds}`, async () => {
        const result = results.get(entry);
        result?.rounds.push(await runRound(server, entry.workload, bench));
      });
    }
  }
  for (const [entry, server] of running) {
    const result = results.get(entry);
    if (result === undefined) continue;
    result.peakMemoryBytes = Math.max(result.peakMemoryBytes, server.process.peakMemoryBytes());
  }
}

/** Starts each server as often as there are rounds, in turns. */
export async function measureStarts(
  stacks: readonly Stack[],
  bench: Bench,
): Promise<StartResult[]> {
  const times = new Map<Stack, number[]>(stacks.map((stack) => [stack, []]));
  for (let round = 1; round <= bench.plan.rounds; round++) {
    for (const [stack, startMs] of times) {
      bench.progress(`start: round ${round} of ${bench.plan.rounds}, ${stack.name}`);
      try {
        await using server = await startServer(stack, usualWorkload, bench);
        startMs.push(server.startMs);
      } catch (error) {
        times.delete(stack);
        bench.problem(`start, ${stack.name}: ${(error as Error).message}`);
      }
    }
  }
  return [...times].map(([stack, startMs]) => ({ stack, startMs }));
}

async function runRound(server: RunningServer, workload: Workload, bench: Bench): Promise<Round> {
  const read = async () => ({
    calls: (await bench.upstream.seen()).requests,
    serverMs: server.process.cpuMs(),
    loadMs: bench.upstream.cpuMs() + readCpuMs('self').children,
    busyMs: readBusyMs(),
  });
  await load(server, workload, bench.plan.leadInSeconds, bench);
  const before = await read();
  const result = await load(server, workload, bench.plan.secondsPerRound, bench);
  const after = await read();
  server.process.clearLog();
  const { requests, seconds, p50Ms, p99Ms } = result;
  const serverMs = after.serverMs - before.serverMs;
  const loadMs = after.loadMs - before.loadMs;
  const othersMs = after.busyMs - before.busyMs - serverMs - loadMs;
  return {
    requestsPerSecond: requests / seconds,
    p50Ms,
    p99Ms,
    cpuMicros: (serverMs * 1000) / requests,
    callsPerRequest: (after.calls - before.calls) / requests,
    serverCoreShare: serverMs / seconds / 1000,
    loadCoreShare: loadMs / seconds / 1000,
    othersShare: Math.max(0, othersMs / seconds / 1000),
  };
}

/** Puts a running server under load. @throws when an answer is not the right one. */
export function load(
  { url, messages, answers }: Pick<RunningServer, 'url' | 'messages' | 'answers'>,
  { keys }: Workload,
  seconds: number,
  bench: Pick<Bench, 'generator' | 'apiKey'>,
  connections = usualConnections,
): Promise<LoadResult> {
  // No load repeats the keys of another.
  const apiKey = keys === 'one' ? bench.apiKey : `bench-${randomUUID()}-`;
  return bench.generator.run({ url, messages, answers, keys, apiKey, seconds, connections });
}
