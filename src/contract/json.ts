import { isUtf8 } from 'node:buffer';
import { parseExactly } from './exact-numbers.ts';

/** A JSON text that `JSON.stringify` writes as it is (ECMAScript `JSON.rawJSON`). */
export interface RawJson {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
  }
}

/**
 * Whether a text may hold a number that a double does not: sixteen digits and points in a row, or an
 * exponent. Whatever this sees inside a string only costs time.
 */
function mayLoseDigits(text: string): boolean {
  // Sixteen in a row are met by every sixteenth character, so that the others need no look.
  for (let index = 15; index < text.length; index += 16) {
    if (isOfNumber(text, index) && isLongNumber(text, index)) return true;
  }
  return exponent.test(text);
}

const exponent = /[0-9.][eE][-+0-9]/;

/** Whether sixteen characters of a number stand around this one. */
function isLongNumber(text: string, index: number): boolean {
  let start = index;
  while (isOfNumber(text, start - 1)) start--;
  let end = index + 1;
  while (isOfNumber(text, end)) end++;
  return end - start >= 16;
}

/** Whether a character is a digit or a point; there is none outside the text. */
function isOfNumber(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0x2e && code <= 0x39 && code !== 0x2f;
}

/**
 * Parses JSON (RFC 8259) without losing digits: an integer that a double can't hold becomes a
 * bigint (of up to 64 characters), any other such number a RawJson of its text. All other values are `JSON.parse`'s.
 * @throws SyntaxError on text that is not JSON, or nested too deeply to be read.
 */
export function parseJson(text: string): unknown {
  return mayLoseDigits(text) ? parseExactly(text) : JSON.parse(text);
}

/** The text of JSON's bytes, which are UTF-8 (RFC 8259). @throws TypeError when they are not. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new TypeError('Expected UTF-8');
  const { buffer, byteOffset, byteLength } = bytes;
  const text = (
    Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, byteLength)
  ).toString();
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
}

const byteOrderMark = 0xfeff;

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
