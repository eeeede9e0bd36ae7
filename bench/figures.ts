import type { Result, Round } from './measure.ts';

/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The median of each metric over the rounds of a result. */
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
    slowShare: of('slowShare'),
  };
}

/**
 * The ratio of one server's rate to another's: the median over pairs of rounds. The rounds are
 * interleaved, so a slow moment of the machine affects both sides of the division.
 */
export function ratioOf({ rounds }: Result, other: Result): number {
  return median(
    rounds.map(({ requestsPerSecond }, index) => {
      return requestsPerSecond / (other.rounds[index]?.requestsPerSecond ?? Number.NaN);
    }),
  );
}

/** The difference between the best and the worst rate, as a fraction of the median. */
export function spreadOf({ rounds }: Result): number {
  const rates = rounds.map(({ requestsPerSecond }) => requestsPerSecond);
  return (Math.max(...rates) - Math.min(...rates)) / median(rates);
}
