/** A small change of a file that breaks a promise of the product. */
export interface Mutant {
  /** What no longer holds. */
  readonly promise: string;
  /** Occurs exactly once in the file. */
  readonly old: string;
  readonly new: string;
  /** The test file that notices it, if it is not that of the file. */
  readonly test?: string;
  /** Why nobody can notice it. It is not tried then. */
  readonly equivalent?: string;
}

/** The mutants of a file, and the test file that notices most of them. */
export interface MutatedFile {
  readonly file: string;
  readonly test: string;
  readonly mutants: readonly Mutant[];
}

/** Returns the text of a file with a mutant. @throws if what it replaces is not there once */
export function mutate(text: string, { promise, old, new: changed }: Mutant): string {
  const parts = text.split(old);
  if (parts.length === 2) return parts.join(changed);
  throw new Error(`${promise}: expected once, found ${parts.length - 1} times: ${old}`);
}
