import { type Bar, drawChart } from './chart.ts';
import { median, mediansOf } from './figures.ts';
import type { ComparisonResult, StartResult } from './measure.ts';
import type { Stack } from './stacks.ts';

/** Draws the results of a run as an SVG document: one panel per comparison, best server first. */
export function drawResults(
  setup: readonly string[],
  comparisons: readonly ComparisonResult[],
  starts: readonly StartResult[],
): string {
  const panels = comparisons.map(({ comparison, results }) => ({
    title: `${comparison.title} (requests/s)`,
    bars: results
      .map((result) => toBar(result.stack, mediansOf(result).requestsPerSecond, result.title))
      .sort((a, b) => b.value - a.value),
  }));
  const start = {
    title: 'Time to first response (ms, lower is better)',
    bars: starts
      .map(({ stack, startMs }) => toBar(stack, median(startMs)))
      .sort((a, b) => a.value - b.value),
  };
  const all = [...panels, start].filter(({ bars }) => bars.length > 0);
  const notes = [...setup, 'Outlined: a pass-through without GraphQL, the minimum for Node.'];
  return drawChart('Requests per second on one core', notes, all);
}

function toBar(
  { packages, isPassThrough, ...stack }: Stack,
  value: number,
  title = stack.title,
): Bar {
  return {
    label: title,
    value,
    text: Math.round(value).toLocaleString('en'),
    kind: packages.length === 0 ? 'ours' : isPassThrough ? 'limit' : 'peer',
  };
}
