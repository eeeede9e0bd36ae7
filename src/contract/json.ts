/** JSON text that `JSON.stringify` copies unchanged (ECMAScript `JSON.rawJSON`). */
export interface RawJson {
  readonly rawJSON: string;
}

/** Revives a value of JSON. `source` is the text of a number, string, boolean or null. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

declare global {
  interface JSON {
    parse(text: string, reviver: Reviver): unknown;
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/**
 * Parses JSON (RFC 8259) without losing digits: `toExact` returns the value of a number that a double
 * cannot represent, in digits for an int64. All other values are parsed as `JSON.parse` does.
 * @throws SyntaxError if the text is not JSON, or has such a number and is nested too deeply.
 */
export function parseJson(text: string, toExact: (source: string) => unknown = toBigInt): unknown {
  // Sixteen consecutive digits and points, or an exponent. A match inside a string costs time but has
  // no other effect.
  const mayLoseDigits = /\d(?:[\d.]{15}|[eE][-+\d])/.test(text);
  if (!mayLoseDigits) return JSON.parse(text);
  try {
    return JSON.parse(text, (_key, value, { source = '' }) =>
      typeof value === 'number' ? readNumber(value, source, toExact) : value,
    );
  } catch (error) {
    // A reviver is called recursively.
    throw error instanceof RangeError ? new SyntaxError('Nested too deeply') : error;
  }
}

const integer = /^-?[0-9]+$/;

/** Returns an integer of up to 64 characters as a bigint (quadratic time), others as a RawJson. */
export function toBigInt(source: string): bigint | RawJson {
  return source.length <= 64 && integer.test(source) ? BigInt(source) : JSON.rawJSON(source);
}

function readNumber(value: number, source: string, toExact: (source: string) => unknown): unknown {
  // A double represents every integer and decimal of up to fifteen digits.
  if (source.length < 16 && !/[eE]/.test(source)) return value;
  if (integer.test(source)) return Number.isSafeInteger(value) ? value : toExact(source);
  const digits = integerOf(source);
  if (digits !== undefined) return readNumber(Number(digits), digits, toExact);
  return isExact(value, source) ? value : toExact(source);
}

/** Returns the digits of an integer of up to nineteen, such as 15 for `1.50e1`, in linear time. */
function integerOf(source: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)\.?(\d*)(?:[eE](.+))?$/.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return `${sign}0`;
  const length = digits.length - fraction.length + Number(exponent);
  if (length > 19 || /[1-9]/.test(digits.slice(Math.max(length, 0)))) return undefined;
  return sign + digits.slice(0, length).padEnd(length, '0');
}

/** Whether a double represents a decimal: fifteen significant digits always fit, if in range. */
function isExact(value: number, source: string): boolean {
  const digits = source.replace(/[eE].*|[-.]/g, '').replace(/^0+/, '');
  const isNormal = Number.isFinite(value) && Math.abs(value) > 2.3e-308;
  return isNormal && (digits.length <= 15 || String(value) === source);
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Returns the nesting of JSON and an upper bound of its number of values, without parsing it: one, plus
 * one for each comma and opening bracket. Of other text, they mean nothing.
 */
export function sizeOfJson(text: string): { readonly values: number; readonly depth: number } {
  let [values, depth, level] = [1, 0, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      for (index++; index < text.length && text.charCodeAt(index) !== quote; index++) {
        if (text.charCodeAt(index) === backslash) index++;
      }
    } else if (code === comma) values++;
    else if (code === openBracket || code === openBrace) {
      values++;
      depth = Math.max(depth, ++level);
    } else if (code === closeBracket || code === closeBrace) level--;
  }
  return { values, depth };
}

/** How much the JSON of a peer may have, and the error for more, or for other text. */
export interface JsonLimits {
  readonly maxValues: number;
  /** The most characters of a number that a double cannot represent. */
  readonly maxDigits?: number;
  readonly refuse: (problem: string, cause?: unknown) => Error;
}

/** The most nesting, because those who read JSON may use recursive functions. */
const maxDepth = 500;

/**
 * Parses the JSON of a peer, unless it is far more expensive to parse and read than its size suggests.
 * @throws what `refuse` returns for a problem that contains the `name`, but no JSON
 */
export function parseBounded(
  name: string,
  text: string,
  { maxValues, maxDigits = Number.POSITIVE_INFINITY, refuse }: JsonLimits,
  parse = parseJson,
): unknown {
  try {
    // Valid JSON of this length can't exceed the limits.
    if (text.length <= 2 * maxDepth) return parse(text);
    const check = (actual: number, maximum: number, what: string) => {
      if (actual <= maximum) return;
      throw refuse(`${name}: expected at most ${maximum} ${what}, received more.`);
    };
    const { values, depth } = sizeOfJson(text);
    check(depth, maxDepth, 'levels of nesting');
    check(values, maxValues, 'JSON values');
    return parse(text, (source) => {
      check(source.length, maxDigits, 'characters of a number');
      return toBigInt(source);
    });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(`${name}: expected JSON, received ${text ? 'other text' : 'nothing'}.`, error);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8, the encoding of JSON (RFC 8259), without its BOM. @throws TypeError if it is invalid. */
export const decodeUtf8 = decoder.decode.bind(decoder);

/** Returns the JSON type of a value of `parseJson`, or `nothing` for undefined. */
export function jsonType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'bigint' || JSON.isRawJSON(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Stringifies a value of `parseJson` with the same digits. RawJson and JsonText are copied. */
export function stringifyJson(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Bigints are rare, and a replacer is slow, so it is used only after the first attempt failed.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'bigint' ? JSON.rawJSON(String(item)) : item,
    );
  }
}

/** Formats the start of a value of `parseJson` for a message, or `nothing` for undefined. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : stringifyJson(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Valid JSON that responses copy. It is immutable, so any number of requests can share it. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
