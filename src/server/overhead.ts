import type { ServiceCall } from '../contract/pet-store.ts';

/** Returns the milliseconds in which none of the calls, in the order of their starts, was in flight. */
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
