/** A JSON text that `JSON.stringify` writes as it is (ECMAScript `JSON.rawJSON`). */
export interface RawJson {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** Digit runs and exponents that a double may not hold; a match inside a string only costs time. */
const mayLoseDigits = /[0-9]{16}|[0-9][eE]\+?[0-9]{3}/;

/**
 * Parses JSON (RFC 8259) without losing digits: an integer that a double can't hold becomes a
 * bigint, any other such number a RawJson of its text. All other values are `JSON.parse`'s.
 * @throws SyntaxError on text that is not JSON.
 */
export function parseJson(text: string): unknown {
  return mayLoseDigits.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }) {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value))
    return value;
  if (/^-?[0-9]+$/.test(source)) return BigInt(source);
  return String(value) === source ? value : JSON.rawJSON(source);
}

/** Whether arrays and objects are nested beyond `depth`; to write such a value overflows the stack. */
export function isNestedBeyond(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((item) => isNestedBeyond(depth - 1, item));
}

/** Writes what `parseJson` read, digit for digit: bigints as integers, RawJson as its text. */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // A bigint is rare, and a replacer slows every value down: only a value that holds one pays.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'bigint' ? JSON.rawJSON(String(item)) : item,
    );
  }
}
