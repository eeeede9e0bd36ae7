import { describe, expect, it } from 'vitest';
import { drawChart } from '../../bench/chart.ts';
import type { Result } from '../../bench/measure.ts';
import { toTable } from '../../bench/report.ts';
import { type Stack, stacks } from '../../bench/stacks.ts';
import { workloads } from '../../bench/workloads.ts';

const two = workloads.slice(0, 2);
const stackOf = (name: string) => stacks.find((one) => one.name === name) as Stack;
const measured = (name: string, ...rounds: [cpuMicros: number, rate: number][]): Result => ({
  stack: stackOf(name),
  rounds: new Map(
    two.map((workload) => [
      workload,
      rounds.map(([cpuMicros, requestsPerSecond]) => ({ cpuMicros, requestsPerSecond, p99Ms: 5 })),
    ]),
  ),
});
const results = [
  measured('gateway', [60, 900], [50, 16_400], [70, 20_000]),
  { stack: stackOf('tailcall'), rounds: new Map(), reason: 'GLIBC_2.39 not found\nat main' },
  measured('pass-through', [25, 30_000]),
];

describe('the report of the benchmark', () => {
  it('is a Markdown table of the least CPU time and the median rate', () => {
    expect(toTable(results, two)).toMatchInlineSnapshot(`
      "| CPU µs (requests/s) | Apollo Client's POST, 20 pets | 1 pet |
      | --- | --- | --- |
      | this gateway | 50 (16,400) | 50 (16,400) |
      | Tailcall | not measured: GLIBC_2.39 not found |  |
      | Pass-through | 25 (30,000) | 25 (30,000) |
      "
    `);
  });

  it('draws a bar for each server, proportional to its CPU time', () => {
    const svg = drawChart(['A < B & "C"'], results, two.slice(0, 1));
    const bars = [
      ...svg.matchAll(/<rect class="(\w+)" x="\d+" y="\d+" width="([\d.]+)" height="14"/g),
    ];
    expect(bars.map(([, kind, length]) => [kind, Number(length)])).toEqual([
      ['ours', 280],
      ['peer', 0],
      ['limit', 140],
    ]);
    expect(svg).toContain('>not measured</text>');
    expect(svg).toContain('A &lt; B &amp; &quot;C&quot;');
  });
});
