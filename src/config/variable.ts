import { type ValueKind, wholeNumber } from './kinds.ts';

/** An environment variable, with the description that `--help` and docs/configuration.md show. */
export interface Variable extends ValueKind {
  /** The member of the configuration that has its value; none if other variables affect it. */
  readonly setting?: string;
  /** The default, as text or as it follows from other variables; undefined if there is none. */
  readonly fallback?: Fallback;
  readonly meaning: string;
  /** Whether the value contains a secret, which is never shown, and `X_FILE` may name a file that contains it. */
  readonly isSecret?: true;
}

/** Returns the text of a variable, or its default; empty if there is none. */
type TextOf = (name: string) => string;
type Fallback = string | ((textOf: TextOf) => string | undefined);

/** The default of a switch that is off in production. */
export function inDevelopment(textOf: TextOf): 'on' | 'off' {
  return textOf('NODE_ENV') === 'production' ? 'off' : 'on';
}

/** Puts the value of a variable into the configuration. */
export function setting<
  const S extends string,
  K extends ValueKind,
  const F extends Fallback | undefined = undefined,
>(path: S, kind: K, fallback?: F) {
  return { ...kind, setting: path, fallback: fallback as F };
}

/** A variable that limits the number of something. */
export function limit<const S extends string>(path: S, fallback: string, what: string) {
  return { ...setting(path, wholeNumber(1, 1_000_000), fallback), meaning: `maximum ${what}` };
}
