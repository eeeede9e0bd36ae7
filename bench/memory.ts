import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { moveToLoadCore } from './cores.ts';
import { median } from './figures.ts';
import { installPeers } from './install-peers.ts';
import { findLoadGenerator } from './load.ts';
import { load } from './measure.ts';
import { choose } from './options.ts';
import { type Stack, stacks } from './stacks.ts';
import { type RunningServer, startServer } from './start.ts';
import { layOut } from './table.ts';
import { startUpstream } from './upstream.ts';
import { usualWorkload } from './workloads.ts';

const marks = [100_000, 500_000, 1_000_000, 2_000_000];
const usage = `Usage: npm run bench:memory -- [options]

Tells what the memory of the gateway and of Mercurius is after ever more requests (${usualWorkload.title}).
At each mark it is the median over a few seconds of load: between two collections it goes up and down.

Options:
  --only NAMES  these servers, separated by commas [gateway,mercurius]
  --help        this text
`;

try {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: 'gateway,mercurius' },
      help: { type: 'boolean', default: false },
    },
  });
  process.stdout.write(values.help ? usage : await compare(choose('--only', values.only, stacks)));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function compare(compared: readonly Stack[]): Promise<string> {
  moveToLoadCore();
  installPeers(compared);
  const rows: string[][] = [];
  for (const stack of compared) {
    rows.push([stack.title, ...(await grow(stack)).map((mb) => mb.toFixed(0))]);
  }
  const counts = marks.map((mark) => mark.toLocaleString('en'));
  return layOut(['MB after requests', ...counts, 'peak'], rows);
}

/** The memory at each mark and its peak, in megabytes. */
async function grow(stack: Stack): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-memory-'));
  try {
    await using upstream = await startUpstream();
    const generator = findLoadGenerator();
    const bench = { upstream, folder, databaseUrl: ':memory:', apiKey: 'bench-key', generator };
    await using server = await startServer(stack, usualWorkload, bench);
    const found: number[] = [];
    let requests = 0;
    for (const mark of marks) {
      while (requests < mark) {
        process.stderr.write(`${stack.name}: ${requests.toLocaleString('en')} requests\n`);
        requests += (await load(server, usualWorkload, 4, bench)).requests;
        server.process.clearLog();
      }
      const held = watch(server);
      requests += (await load(server, usualWorkload, 4, bench)).requests;
      found.push(held());
    }
    return [...found, server.process.peakMemoryBytes() / 1e6];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Reads the memory ten times a second; the median of it, in megabytes, when it is asked for. */
function watch(server: RunningServer): () => number {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(server.process.memoryBytes() / 1e6), 100);
  return () => {
    clearInterval(timer);
    return median(samples);
  };
}
