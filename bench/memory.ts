import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { moveToLoadCore } from './cores.ts';
import { median } from './figures.ts';
import { installPeers } from './install-peers.ts';
import { findLoadGenerator } from './load.ts';
import { load } from './measure.ts';
import { selectByName } from './options.ts';
import { type Stack, stacks } from './stacks.ts';
import { type RunningServer, startServer } from './start.ts';
import { layOut } from './table.ts';
import { startUpstream } from './upstream.ts';
import { defaultWorkload } from './workloads.ts';

const checkpoints = [100_000, 500_000, 1_000_000, 2_000_000];
const usage = `Usage: npm run bench:memory -- [options]

Measures the memory of the gateway and of Mercurius after a growing number of requests
(${defaultWorkload.title}). Each figure is the median over a few seconds of load, because memory
rises and falls with garbage collection.

Options:
  --only NAMES  the servers to measure, separated by commas (default: gateway,mercurius)
  --help        show this help
`;

try {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: 'gateway,mercurius' },
      help: { type: 'boolean', default: false },
    },
  });
  const callers = stacks.filter(({ database }) => database === undefined);
  process.stdout.write(
    values.help ? usage : await compare(selectByName('--only', values.only, callers)),
  );
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function compare(compared: readonly Stack[]): Promise<string> {
  moveToLoadCore();
  installPeers(compared);
  const rows: string[][] = [];
  for (const stack of compared) {
    rows.push([stack.title, ...(await measureMemory(stack)).map((mb) => mb.toFixed(0))]);
  }
  const counts = checkpoints.map((count) => count.toLocaleString('en'));
  return layOut(['MB after requests', ...counts, 'peak'], rows);
}

/** The memory at each checkpoint and the peak, in megabytes. */
async function measureMemory(stack: Stack): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-memory-'));
  try {
    await using upstream = await startUpstream();
    const generator = findLoadGenerator();
    const bench = { upstream, folder, databaseUrl: ':memory:', apiKey: 'bench-key', generator };
    await using server = await startServer(stack, defaultWorkload, bench);
    const medians: number[] = [];
    let requests = 0;
    for (const checkpoint of checkpoints) {
      while (requests < checkpoint) {
        process.stderr.write(`${stack.name}: ${requests.toLocaleString('en')} requests\n`);
        requests += (await load(server, defaultWorkload, 4, bench)).requests;
        server.process.clearLog();
      }
      const stopSampling = sampleMemory(server);
      requests += (await load(server, defaultWorkload, 4, bench)).requests;
      medians.push(stopSampling());
    }
    return [...medians, server.process.peakMemoryBytes() / 1e6];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Samples the memory in MB, ten times per second. @returns a function that returns the median. */
function sampleMemory(server: RunningServer): () => number {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(server.process.memoryBytes() / 1e6), 100);
  return () => {
    clearInterval(timer);
    return median(samples);
  };
}
