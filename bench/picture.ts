import { type Bar, drawChart } from './chart.ts';
import { median, mediansOf } from './figures.ts';
import type { ComparisonResult, StartResult } from './measure.ts';
import type { Stack } from './stacks.ts';

/** The results of a run as an SVG document: a panel per comparison, the best on top. */
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
    title: 'Start to the first answer (ms, less is better)',
    bars: starts
      .map(({ stack, startMs }) => toBar(stack, median(startMs)))
      .sort((a, b) => a.value - b.value),
  };
  const all = [...panels, start].filter(({ bars }) => bars.length > 0);
  const notes = [...setup, 'Outlined: a pass-through without GraphQL, the least that Node can do.'];
  return drawChart('Requests a second that one core serves', notes, all);
}

function toBar({ packages, isBare, ...stack }: Stack, value: number, title = stack.title): Bar {
  return {
    label: title,
    value,
    text: Math.round(value).toLocaleString('en'),
    kind: packages.length === 0 ? 'ours' : isBare ? 'limit' : 'peer',
  };
}
