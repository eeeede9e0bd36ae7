import { describe, expect, it } from 'vitest';
import { drawChart } from '../../bench/chart.ts';
import { compareServers, ownComparison } from '../../bench/comparison.ts';
import { median } from '../../bench/figures.ts';
import type { Round } from '../../bench/measure.ts';
import { drawResults } from '../../bench/picture.ts';
import { toTable } from '../../bench/report.ts';
import { type Stack, stacks } from '../../bench/stacks.ts';
import { defaultWorkload } from '../../bench/workloads.ts';

const round = (requestsPerSecond: number): Round => ({
  requestsPerSecond,
  p50Ms: 2,
  p99Ms: 5,
  cpuMicros: 50,
  callsPerRequest: 1,
  serverCoreShare: 1,
  loadCoreShare: 0.5,
  othersShare: 0,
  slowShare: 0,
});
const result = (name: string, ...rates: number[]) => {
  const stack = stacks.find((one) => one.name === name) as Stack;
  return { title: stack.title, stack, workload: defaultWorkload, ...figures(rates) };
};
const figures = (rates: readonly number[]) => ({
  rounds: rates.map(round),
  peakMemoryBytes: 100_000_000,
});
const measured = {
  comparison: compareServers(defaultWorkload, stacks),
  results: [result('yoga', 900, 1000, 5000), result('gateway', 2000, 2500, 2600)],
};

describe('the report of the benchmark', () => {
  it('takes the median of the rounds', () => {
    expect(median([5, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 9])).toBe(3);
  });

  it('shows medians, the fastest server first, and the ratio of the gateway to each', () => {
    expect(toTable(measured)).toMatchInlineSnapshot(`
      "20 pets, a key per request  requests/s  gateway ×  p50 ms  p99 ms  CPU µs  least  peak MB  calls  spread
      ──────────────────────────  ──────────  ─────────  ──────  ──────  ──────  ─────  ───────  ─────  ──────
      petstore-gateway                 2,500       1.00     2.0     5.0      50     50      100   1.00    24 %
      GraphQL Yoga + fetch             1,000       2.22     2.0     5.0      50     50      100   1.00   410 %
      "
    `);
  });

  it('compares the gateway with itself in the given order, each entry relative to the first', () => {
    const entries = ownComparison.entries.slice(0, 2);
    const results = entries.map((entry, index) => ({ ...entry, ...figures([1000 + 500 * index]) }));
    expect(toTable({ comparison: ownComparison, results })).toMatchInlineSnapshot(`
      "petstore-gateway: 20 pets, a key per request  requests/s  × first  p50 ms  p99 ms  CPU µs  least  peak MB  calls  spread
      ────────────────────────────────────────────  ──────────  ───────  ──────  ──────  ──────  ─────  ───────  ─────  ──────
      Bare POST                                          1,000     1.00     2.0     5.0      50     50      100   1.00     0 %
      Apollo Client's POST                               1,500     1.50     2.0     5.0      50     50      100   1.00     0 %
      "
    `);
  });

  it('draws a bar for each server, proportional to its median', () => {
    const svg = drawResults([], [measured], []);
    const lengths = [...svg.matchAll(/<rect class="(\w+)" x="\d+" y="\d+" width="([\d.]+)"/g)];
    expect(lengths.map(([, kind, length]) => [kind, Number(length)])).toEqual([
      ['ours', expect.closeTo(230, 0)],
      ['peer', expect.closeTo(92, 0)],
    ]);
  });

  it('escapes XML characters in the chart', () => {
    expect(drawChart('A < B & "C"', [], [])).toContain('A &lt; B &amp; &quot;C&quot;');
  });
});
