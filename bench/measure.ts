import { randomUUID } from 'node:crypto';
import type { Comparison, Entry } from './comparison.ts';
import { readBusyMs, readCpuMs } from './cores.ts';
import { defaultConnections, type LoadGenerator, type LoadResult } from './load.ts';
import type { PaceMonitor } from './pace.ts';
import type { Stack } from './stacks.ts';
import { type Fixtures, type RunningServer, startServer } from './start.ts';
import { defaultWorkload, type Workload } from './workloads.ts';

/** The length of a measurement. Times are in seconds. */
export interface Plan {
  /** How often each server is started, because two processes of the same server differ in speed. */
  readonly servers: number;
  /** The warm-up of each server before its first round. */
  readonly warmUpSeconds: number;
  /** The number of rounds for each server. */
  readonly rounds: number;
  /** Unmeasured load before each round, because idle connections are closed during other rounds. */
  readonly leadInSeconds: number;
  readonly secondsPerRound: number;
}

/** The metrics of one round. */
export interface Round {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The server's CPU time per request, in microseconds. */
  readonly cpuMicros: number;
  /** REST calls per request. Fewer than the workload's paths if the server shares calls. */
  readonly callsPerRequest: number;
  /** The share of its core that the server used, 0 to 1. */
  readonly serverCoreShare: number;
  /** The share of their core that the REST service and the load used, 0 to 1. */
  readonly loadCoreShare: number;
  /** The share of the two cores that other programs used, 0 to 2. */
  readonly othersShare: number;
  /** The share of the time in which the machine ran slowly, 0 to 1. */
  readonly slowShare: number;
}

/** The result of one entry of a comparison. */
export interface Result extends Entry {
  readonly rounds: readonly Round[];
  readonly peakMemoryBytes: number;
}

/** The results of all entries of a comparison. */
export interface ComparisonResult {
  readonly comparison: Comparison;
  readonly results: readonly Result[];
}

/** The times from the spawn of a server to its first correct response, in milliseconds. */
export interface StartResult {
  readonly stack: Stack;
  readonly startMs: readonly number[];
}

/** The plan, the load generator and the callbacks of a run. */
export interface Bench extends Fixtures {
  readonly plan: Plan;
  readonly generator: LoadGenerator;
  readonly pace: PaceMonitor;
  readonly reportProgress: (text: string) => void;
  /** Called when a server fails. The run continues without that server. */
  readonly reportFailure: (text: string) => void;
}

/** Measures in interleaved rounds, so that a slow moment of the machine affects all entries. */
export async function measure(comparison: Comparison, bench: Bench): Promise<ComparisonResult> {
  const results = new Map<Entry, { rounds: Round[]; peakMemoryBytes: number }>(
    comparison.entries.map((entry) => [entry, { rounds: [], peakMemoryBytes: 0 }]),
  );
  for (let server = 1; server <= bench.plan.servers; server++) {
    await measureServers(comparison, results, bench);
  }
  return { comparison, results: [...results].map(([entry, result]) => ({ ...entry, ...result })) };
}

/** Starts a server for each entry and measures its rounds. An entry that fails is removed. */
async function measureServers(
  comparison: Comparison,
  results: Map<Entry, { rounds: Round[]; peakMemoryBytes: number }>,
  bench: Bench,
): Promise<void> {
  const { plan } = bench;
  await using servers = new AsyncDisposableStack();
  const running = new Map<Entry, RunningServer>();
  const attempt = async (entry: Entry, step: string, task: () => Promise<void>) => {
    const where = `${comparison.name}: ${entry.workload.name}, ${entry.stack.name}`;
    bench.reportProgress(`${where}, ${step}`);
    await task().catch((error: Error) => {
      running.delete(entry);
      results.delete(entry);
      bench.reportFailure(`${where}: ${error.message}`);
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

/** Starts each server once per round, interleaved, and measures the time to the first response. */
export async function measureStarts(
  stacks: readonly Stack[],
  bench: Bench,
): Promise<StartResult[]> {
  const times = new Map<Stack, number[]>(stacks.map((stack) => [stack, []]));
  for (let round = 1; round <= bench.plan.rounds; round++) {
    for (const [stack, startMs] of times) {
      bench.reportProgress(`start: round ${round} of ${bench.plan.rounds}, ${stack.name}`);
      try {
        await using server = await startServer(stack, defaultWorkload, bench);
        startMs.push(server.startMs);
      } catch (error) {
        times.delete(stack);
        bench.reportFailure(`start, ${stack.name}: ${(error as Error).message}`);
      }
    }
  }
  return [...times].map(([stack, startMs]) => ({ stack, startMs }));
}

async function runRound(server: RunningServer, workload: Workload, bench: Bench): Promise<Round> {
  const read = async () => ({
    calls: (await bench.upstream.stats()).requests,
    serverMs: server.process.cpuMs(),
    loadMs: bench.upstream.cpuMs() + readCpuMs('self').children,
    busyMs: readBusyMs(),
  });
  await load(server, workload, bench.plan.leadInSeconds, bench);
  const { result, slowShare } = await bench.pace.measure(async () => {
    const before = await read();
    const loaded = await load(server, workload, bench.plan.secondsPerRound, bench);
    return { before, loaded, after: await read() };
  });
  const { before, loaded, after } = result;
  server.process.clearLog();
  const { requests, seconds, p50Ms, p99Ms } = loaded;
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
    slowShare,
  };
}

/** Puts a running server under load. @throws when a response is not correct. */
export function load(
  { url, messages, expectedBodies }: Pick<RunningServer, 'url' | 'messages' | 'expectedBodies'>,
  { keys }: Workload,
  seconds: number,
  bench: Pick<Bench, 'generator' | 'apiKey'>,
  connections = defaultConnections,
): Promise<LoadResult> {
  // The prefix is random, so that no two loads use the same keys.
  const apiKey = keys === 'one' ? bench.apiKey : `bench-${randomUUID()}-`;
  return bench.generator.run({ url, messages, expectedBodies, keys, apiKey, seconds, connections });
}
