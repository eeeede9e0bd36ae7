import fc, { type Parameters as PropertyParameters } from 'fast-check';

const { FUZZ_SEED, FUZZ_RUNS } = process.env;

/**
 * The number of runs and the seed of a property: those of `npm run dev -- fuzz:…`, or fixed ones.
 */
export function fuzzed<T>(numRuns: number): PropertyParameters<T> {
  const seed = Number(FUZZ_SEED ?? 20261121);
  // No shrinking: generated schemas do not shrink, and a failure reports its seed immediately.
  return { numRuns: Number(FUZZ_RUNS ?? numRuns), seed, endOnFailure: true };
}

/** The timeout of a property in milliseconds. `npm run dev -- fuzz:…` has no timeout. */
export const fuzzTimeout = FUZZ_RUNS === undefined ? 600_000 : 0;

/** Any character but a lone surrogate. The unit `binary` of fast-check does the same, but takes seconds to create. */
export const anyCharacter = fc
  .nat(0x10_ffff)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
