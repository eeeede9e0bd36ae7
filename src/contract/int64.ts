/** An integer from -2^63 to 2^63-1 as canonical decimal digits, in a string that nothing rounds. */
export type Int64 = string;

const decimal = /^-?(?:0|[1-9][0-9]{0,18})$/;

/** Returns the digits of a decimal string, a safe number or a bigint; undefined if no int64. */
export function parseInt64(value: unknown): Int64 | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value === 'bigint') return isInt64(value) ? String(value) : undefined;
  if (typeof value !== 'string' || !decimal.test(value)) return undefined;
  if (value.length < 19) return value === '-0' ? '0' : value;
  return isInt64(BigInt(value)) ? value : undefined;
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
