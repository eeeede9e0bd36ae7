import type { Result, Round } from './measure.ts';

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The median of each figure over the rounds of a result. */
export function mediansOf({ rounds }: Result): Round {
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMicros: of('cpuMicros'),
    callsPerRequest: of('callsPerRequest'),
    serverCoreShare: of('serverCoreShare'),
    loadCoreShare: of('loadCoreShare'),
    othersShare: of('othersShare'),
  };
}

/**
 * What a server's rate is to another's: the median over the rounds, which were driven in turns, so
 * that a moment in which the machine was slow is on both sides of the division.
 */
export function ratioOf({ rounds }: Result, other: Result): number {
  return median(
    rounds.map(({ requestsPerSecond }, index) => {
      return requestsPerSecond / (other.rounds[index]?.requestsPerSecond ?? Number.NaN);
    }),
  );
}

/** How far the best and the worst round are apart, as a part of the median. */
export function spreadOf({ rounds }: Result): number {
  const rates = rounds.map(({ requestsPerSecond }) => requestsPerSecond);
  return (Math.max(...rates) - Math.min(...rates)) / median(rates);
}
