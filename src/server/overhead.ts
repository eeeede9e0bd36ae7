import type { ServiceCall } from '../contract/pet-store.ts';

/**
 * Returns the milliseconds between two times in which no call was in flight, as `performance.now()` has
 * them. The calls are in the order in which they started.
 */
export function timeWithoutCalls(
  start: number,
  end: number,
  calls: readonly Pick<ServiceCall, 'startedAt' | 'outcome' | 'ms'>[],
): number {
  let without = 0;
  let coveredUntil = start;
  for (const { startedAt, outcome, ms } of calls) {
    // A read that was joined may have started before.
    if (startedAt > coveredUntil) without += startedAt - coveredUntil;
    coveredUntil = Math.max(coveredUntil, outcome === undefined ? end : startedAt + ms);
  }
  return without + Math.max(0, end - coveredUntil);
}
