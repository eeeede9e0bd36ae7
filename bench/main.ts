import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { drawChart } from './chart.ts';
import { cores, moveToLoadCore } from './cores.ts';
import { installPeers, versionsOf } from './install-peers.ts';
import { defaultConnections, findWrk } from './load.ts';
import { measure } from './measure.ts';
import { type Options, readOptions, usage } from './options.ts';
import { toJson, toTable } from './report.ts';
import { startUpstream } from './upstream.ts';
import { workloads } from './workloads.ts';

// Exit through `process.exit`, so that the exit handler deletes the temporary files.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(usage);
  else process.exitCode = await run(options);
} catch (error) {
  progress(`${(error as Error).message}\nRun npm run bench -- --help for the options.`);
  process.exitCode = 1;
}

/** Runs the benchmark. @returns the exit code: 1 when a server failed. */
async function run({ stacks, rounds, seconds, json, svg }: Options): Promise<0 | 1> {
  const wrk = findWrk();
  moveToLoadCore();
  installPeers(stacks);
  const processors = cpus();
  const setup = [
    `${processors[0]?.model.trim()}, ${processors.length} cores; Node ${process.versions.node}; ${wrk}.`,
    `The servers run on core ${cores.server}, the REST service and the load (${defaultConnections} connections) on core ${cores.load}. Rounds: ${rounds} of ${seconds} s.`,
  ];
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await using upstream = await startUpstream();
  const plan = { stacks, workloads, rounds, seconds };
  const results = await measure(plan, { upstream, folder }, progress);
  process.stdout.write(`${setup.join('\n')}\n\n${toTable(results, workloads)}`);
  write(json, () => toJson(setup, versionsOf(stacks), results));
  const limit = 'Outlined: a pass-through without GraphQL, the minimum for Node.';
  write(svg, () => drawChart([...setup, limit], results, workloads));
  return results.some(({ stack, reason }) => reason && !stack.unsupportedReason?.()) ? 1 : 0;
}

function write(path: string | undefined, text: () => string): void {
  if (path === undefined) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text());
  progress(`Wrote ${path}`);
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
