import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BuiltInDatabase, createDatabase } from './built-in.ts';
import { compareServers, ownComparison } from './comparison.ts';
import { moveToLoadCore } from './cores.ts';
import { installPeers } from './install-peers.ts';
import { findLoadGenerator } from './load.ts';
import { describeMachine, versionsOf } from './machine.ts';
import { type Bench, type ComparisonResult, measure, measureStarts } from './measure.ts';
import { type Options, readOptions, usage } from './options.ts';
import { monitorPace } from './pace.ts';
import { drawResults } from './picture.ts';
import { describeCoreUse, legend, toJson, toStartTable, toTable } from './report.ts';
import { gateway, sources } from './stacks.ts';
import { startUpstream } from './upstream.ts';

// Exit through `process.exit`, so that the exit handlers delete the temporary files.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') print(usage);
  else process.exitCode = await run(options);
} catch (error) {
  progress(`${(error as Error).message}\nRun npm run bench -- --help for the options.`);
  process.exitCode = 1;
}

/** Runs the benchmark. @returns the exit code: 1 when a server failed. */
async function run(options: Options): Promise<0 | 1> {
  const { plan } = options;
  moveToLoadCore();
  const wanted = options.workloads.length > 0 || options.start ? options.stacks : [];
  installPeers(wanted);
  const stacks = wanted.filter(({ title, unsupportedReason }) => {
    const reason = unsupportedReason?.();
    if (reason !== undefined) print(`Skipped: ${title} cannot run on this machine. ${reason}`);
    return reason === undefined;
  });
  if (stacks.length === 0 && !options.shapes)
    throw new Error('No server to measure: all of the selected servers were skipped.');
  const generator = findLoadGenerator();
  const setup = describeMachine(generator.name, plan);
  const versions = versionsOf(stacks);
  print([...setup, Object.entries(versions).flat().join(' '), legend].join('\n'));

  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  await using upstream = await startUpstream();
  let exitCode: 0 | 1 = 0;
  const reportFailure = (text: string) => {
    exitCode = 1;
    print(`FAILED  ${text}`);
  };
  const pace = monitorPace(() => progress('The machine ran slowly; the round is repeated.'));
  const bench: Omit<Bench, keyof BuiltInDatabase> = {
    upstream,
    folder,
    plan,
    generator,
    pace,
    reportProgress: progress,
    reportFailure,
  };

  const comparisons = options.workloads.map((workload) => compareServers(workload, stacks));
  if (options.shapes) comparisons.push(ownComparison);
  const measured: ComparisonResult[] = [];
  for (const comparison of comparisons.filter(({ entries }) => entries.length > 0)) {
    const [entry] = comparison.entries;
    await using database = await createDatabase(entry?.workload ?? {}, folder);
    const result = await measure(comparison, { ...bench, ...database });
    measured.push(result);
    print(toTable(result));
  }
  const callers = stacks.filter(({ database }) => database === undefined);
  const started = callers.includes(gateway) ? [...callers, sources] : callers;
  const withoutDatabase = { ...bench, databaseUrl: ':memory:', apiKey: 'bench-key' };
  const starts = options.start ? await measureStarts(started, withoutDatabase) : [];
  if (options.start) print(toStartTable(starts));
  print(describeCoreUse(measured));
  write(options.json, () => toJson(setup, versions, measured, starts));
  write(options.svg, () => drawResults(setup, measured, starts));
  return exitCode;
}

function write(path: string | undefined, text: () => string): void {
  if (path === undefined) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text());
  progress(`Wrote ${path}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
