import type { Parameters as PropertyParameters } from 'fast-check';
import type { ExecutionResult } from 'graphql';
import { typedError } from '../../src/graphql/errors.ts';

const { FUZZ_SEED, FUZZ_RUNS } = process.env;

/** How often a property is tried, and with which seed: those of `npm run fuzz:execution`, or fixed ones. */
export function fuzzed<T>(numRuns: number): PropertyParameters<T> {
  const seed = Number(FUZZ_SEED ?? 20261121);
  // No shrinking: a failure reports its seed at once, and a generated schema does not shrink.
  return { numRuns: Number(FUZZ_RUNS ?? numRuns), seed, endOnFailure: true };
}

/** Milliseconds for a fuzzed test; without a limit in `npm run fuzz:execution`. */
export const fuzzTimeout = FUZZ_RUNS === undefined ? 60_000 : 0;

/**
 * All that two executors have to agree on: the text of the data, and of each error its message, path
 * and locations, for the gateway and for its clients. Errors are sorted: fields run side by side.
 */
export function comparable({ data, errors = [] }: ExecutionResult) {
  const request = { requestId: 'test', signal: new AbortController().signal };
  const described = errors.map((error) => {
    const { message, path, locations, extensions } = error;
    const causes: unknown[] = [];
    const typed = typedError(error, request, (cause) => causes.push(String(cause)));
    return written({ message, path, locations, extensions, typed, causes });
  });
  return { data: written(data), errors: described.sort() };
}

/** JSON in which no value is left out. */
export function written(value: unknown): string | undefined {
  return JSON.stringify(value, (_, item) => {
    if (typeof item === 'bigint') return `${item}n`;
    if (typeof item === 'function') return 'function';
    if (item === undefined) return 'undefined';
    return typeof item === 'symbol' ? String(item) : item;
  });
}
