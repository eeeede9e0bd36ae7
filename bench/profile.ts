import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDatabase } from './built-in.ts';
import { moveToLoadCore } from './cores.ts';
import { type CpuProfile, type SelfTime, summarise } from './cpu-profile.ts';
import { findLoadGenerator } from './load.ts';
import { load } from './measure.ts';
import { type Stack, sources } from './stacks.ts';
import { startServer } from './start.ts';
import { layOut } from './table.ts';
import { startUpstream } from './upstream.ts';
import { defaultWorkload, type Workload, workloads } from './workloads.ts';

const names = workloads.map(({ name }) => name).join(', ');
const usage = `Usage: npm run bench:profile -- [options]

Profiles the gateway under load with V8's sampling profiler, and lists the functions and packages
that used the CPU. The profiler itself uses some of the time.

Options:
  --workload NAME  the workload (default: ${defaultWorkload.name}), one of
                   ${names}
  --seconds N      the duration of the profile, and of the warm-up before it (default: 8)
  --top N          the number of functions to list (default: 30)
  --keep PATH      write the profile to a file, for a viewer such as Chromium's DevTools
  --help           show this help
`;

try {
  const { values } = parseArgs({
    options: {
      workload: { type: 'string', default: defaultWorkload.name },
      seconds: { type: 'string', default: '8' },
      top: { type: 'string', default: '30' },
      keep: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  process.stdout.write(
    values.help
      ? usage
      : await profile(
          readWorkload(values.workload),
          readCount('--seconds', values.seconds),
          readCount('--top', values.top),
          values.keep,
        ),
  );
} catch (error) {
  const { message } = error as Error;
  process.stderr.write(`${message}\nRun npm run bench:profile -- --help for the options.\n`);
  process.exitCode = 1;
}

/** Profiles the gateway. @returns the packages and functions that used its CPU time, as tables. */
async function profile(workload: Workload, seconds: number, top: number, keep: string | undefined) {
  moveToLoadCore();
  const folder = mkdtempSync(join(tmpdir(), 'bench-profile-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  await using database = await createDatabase(workload, folder);
  const generator = findLoadGenerator();
  await using upstream = await startUpstream();
  const bench = { upstream, folder, ...database, generator };

  const spawned = performance.now();
  await using server = await startServer(withProfiler(folder), workload, bench);
  await load(server, workload, seconds, bench);
  const warmUpMs = performance.now() - spawned;
  const result = await load(server, workload, seconds, bench);
  await server.process.stop();

  const name = readdirSync(folder).find((file) => file.endsWith('.cpuprofile')) ?? '';
  const file = join(folder, name);
  if (keep !== undefined) copyFileSync(file, keep);
  const times = summarise(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile, warmUpMs);
  const rate = Math.round(result.requests / result.seconds);
  return `${workload.title}: ${rate} requests/s with the profiler

${toTable('package', times.packages.slice(0, 15))}
${toTable('function', times.functions.slice(0, top))}`;
}

/** The gateway with the profiler, which writes the profile to this folder on exit. */
function withProfiler(folder: string): Stack {
  return {
    ...sources,
    command(options) {
      const { argv, env } = sources.command(options);
      return { argv, env: { ...env, NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` } };
    },
  };
}

function toTable(heading: string, times: readonly SelfTime[]): string {
  const rows = times.map(({ name, share }) => [name, `${(share * 100).toFixed(1)} %`]);
  return layOut([heading, 'self time'], rows);
}

function readWorkload(name: string): Workload {
  const workload = workloads.find((one) => one.name === name);
  if (workload !== undefined) return workload;
  throw new Error(`--workload: expected one of ${names}; received ${name}.`);
}

function readCount(option: string, text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new Error(`${option}: expected a whole number from 1 to 99999; received ${text}.`);
}
