import { median, mediansOf, ratioOf, spreadOf } from './figures.ts';
import type { ComparisonResult, Result, StartResult } from './measure.ts';
import { acceptedShare } from './pace.ts';
import { gateway } from './stacks.ts';
import { formatPercent, layOut } from './table.ts';

/** The meaning of the columns of the tables. */
export const legend = `gateway ×  the gateway's requests/s divided by this server's, the median over the rounds
× first    this entry's requests/s divided by the first entry's, the median over the rounds
CPU        the server's CPU time per request; least: in its best round
peak       the server's peak memory
calls      the server's REST calls per request
spread     the difference between the best and the worst round, relative to the median
`;

/** Formats a comparison as a table: fastest first, or in the given order for the gateway alone. */
export function toTable({ comparison: { title, isOwn }, results }: ComparisonResult): string {
  const ours = results.find(({ stack }) => stack.name === gateway.name);
  const ratio = (result: Result) => {
    if (ours === undefined) return '';
    return (isOwn ? ratioOf(result, ours) : ratioOf(ours, result)).toFixed(2);
  };
  const rows = results
    .map((result) => ({ result, ...mediansOf(result) }))
    .sort((a, b) => (isOwn ? 0 : b.requestsPerSecond - a.requestsPerSecond))
    .map(({ result, requestsPerSecond, p50Ms, p99Ms, cpuMicros, callsPerRequest }) => [
      result.title,
      Math.round(requestsPerSecond).toLocaleString('en'),
      ratio(result),
      p50Ms.toFixed(1),
      p99Ms.toFixed(1),
      cpuMicros.toFixed(0),
      Math.min(...result.rounds.map((round) => round.cpuMicros)).toFixed(0),
      (result.peakMemoryBytes / 1e6).toFixed(0),
      callsPerRequest.toFixed(2),
      formatPercent(spreadOf(result)),
    ]);
  const header = [
    title,
    'requests/s',
    isOwn ? '× first' : 'gateway ×',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'least',
    'peak MB',
    'calls',
    'spread',
  ];
  return layOut(header, rows);
}

/** Formats the start times as a table, the fastest first. */
export function toStartTable(results: readonly StartResult[]): string {
  const rows = results
    .map(({ stack, startMs }) => ({ stack, startMs, middle: median(startMs) }))
    .sort((a, b) => a.middle - b.middle)
    .map(({ stack, startMs, middle }) => [
      stack.title,
      middle.toFixed(0),
      `${Math.min(...startMs).toFixed(0)} – ${Math.max(...startMs).toFixed(0)}`,
    ]);
  return layOut(['Time to first response', 'ms', 'range'], rows);
}

/** Reports whether something other than the servers limited a round, by the busiest round. */
export function describeCoreUse(comparisons: readonly ComparisonResult[]): string {
  const rounds = comparisons.flatMap(({ results }) =>
    results.flatMap(({ stack, workload, rounds }) =>
      rounds.map((round) => ({ ...round, where: `${stack.name}, ${workload.name}` })),
    ),
  );
  if (rounds.length === 0) return '';
  const most = (name: 'loadCoreShare' | 'othersShare' | 'slowShare', of: string) => {
    const worst = rounds.toSorted((a, b) => b[name] - a[name])[0];
    return worst && `${formatPercent(worst[name])} of ${of} (${worst.where})`;
  };
  return `The REST service and the load used at most ${most('loadCoreShare', 'a core')}. Near 100 %, they limit the results.
Other programs used at most ${most('othersShare', 'a core')}. Above a few per cent, measure again.
The machine ran slowly for at most ${most('slowShare', 'a round')}. Above ${formatPercent(acceptedShare)}, measure again.
`;
}

/** Formats all measurements, round by round, as JSON. */
export function toJson(
  setup: readonly string[],
  versions: Readonly<Record<string, string>>,
  comparisons: readonly ComparisonResult[],
  starts: readonly StartResult[],
): string {
  const json = {
    measuredAt: new Date().toISOString(),
    setup,
    versions,
    comparisons: comparisons.map(({ comparison: { name, title }, results }) => ({
      name,
      title,
      results: results.map((result) => ({
        stack: result.stack.name,
        workload: result.workload.name,
        medians: mediansOf(result),
        peakMemoryBytes: result.peakMemoryBytes,
        rounds: result.rounds,
      })),
    })),
    starts: starts.map(({ stack: { name }, startMs }) => ({
      stack: name,
      medianMs: median(startMs),
      startMs,
    })),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}
