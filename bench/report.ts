import { median } from './figures.ts';
import type { Result } from './measure.ts';
import type { Workload } from './workloads.ts';

/** The figures of a server under one workload. */
export interface Figures {
  /** The median of the CPU time per request, in microseconds. */
  readonly cpuMicros: number;
  /** The median rate. */
  readonly requestsPerSecond: number;
}

/** Summarises the rounds of a server, or returns undefined if it was not measured. */
export function figuresOf({ rounds }: Result, workload: Workload): Figures | undefined {
  const measured = rounds.get(workload);
  return (
    measured && {
      cpuMicros: median(measured.map(({ cpuMicros }) => cpuMicros)),
      requestsPerSecond: median(measured.map(({ requestsPerSecond }) => requestsPerSecond)),
    }
  );
}

/** Formats the results as a Markdown table: CPU time in microseconds, and the rate in brackets. */
export function toTable(results: readonly Result[], workloads: readonly Workload[]): string {
  const rows = results.map((result) => [
    result.stack.title,
    ...(result.reason === undefined
      ? workloads.map((workload) => formatFigures(figuresOf(result, workload)))
      : [`not measured: ${result.reason.split('\n')[0]}`, ...workloads.slice(1).map(() => '')]),
  ]);
  const header = ['CPU µs (requests/s)', ...workloads.map(({ title }) => title)];
  return [header, header.map(() => '---'), ...rows]
    .map((row) => `| ${row.join(' | ')} |\n`)
    .join('');
}

function formatFigures(figures: Figures | undefined): string {
  if (figures === undefined) return '';
  const format = (value: number) => Math.round(value).toLocaleString('en');
  return `${format(figures.cpuMicros)} (${format(figures.requestsPerSecond)})`;
}

/** Formats all measurements, round by round, as JSON. */
export function toJson(
  setup: readonly string[],
  versions: Readonly<Record<string, string>>,
  results: readonly Result[],
): string {
  const json = {
    measuredAt: new Date().toISOString(),
    setup,
    versions,
    results: results.map(({ stack, rounds, reason }) => ({
      server: stack.name,
      reason,
      workloads: Object.fromEntries([...rounds].map(([{ name }, measured]) => [name, measured])),
    })),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}
