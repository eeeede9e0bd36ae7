import { randomUUID } from 'node:crypto';
import { JsonScanner } from './json-scanner.ts';

/** Prefix of strings that replace numbers. It is random, so that input cannot contain it. */
const marker = `\0${randomUUID()}`;
const openingMarker = `"\\u0000${marker.slice(1)}`;

/** Maximum depth of arrays and objects, so that recursion does not overflow the stack. */
const maxDepth = 500;

/**
 * Maximum length of an integer that becomes a bigint, because parsing a bigint takes quadratic
 * time.
 */
const maxIntegerLength = 64;

/**
 * Parses JSON whose numbers may have more digits than a double. `JSON.parse` reads such numbers as
 * strings; a reviver, which receives the text of every value, is slower (docs/performance.md).
 * @throws SyntaxError if the text is not JSON, or is nested too deeply.
 */
export function parseExactly(text: string): unknown {
  return restore(JSON.parse(quoteNumbers(text, openingMarker)), maxDepth);
}

/**
 * Writes each number that a double cannot represent as a string: between this opening and a quote.
 * @throws SyntaxError if the text is not JSON.
 */
export function quoteNumbers(text: string, opening = '"'): string {
  const scanner = new JsonScanner();
  // The space ends a number.
  const bytes = Buffer.from(`${text} `);
  let quoted = '';
  let copied = 0;
  scanner.push(bytes, (start, end) => {
    const source = bytes.toString('latin1', start, end);
    if (!losesDigits(source)) return;
    quoted += `${bytes.toString('utf8', copied, start)}${opening}${source}"`;
    copied = end;
  });
  scanner.end();
  return quoted + bytes.toString('utf8', copied);
}

const integer = /^-?[0-9]+$/;

function losesDigits(source: string): boolean {
  // A double represents every integer and decimal of up to fifteen digits.
  if (source.length < 16 && !/[eE]/.test(source)) return false;
  const value = Number(source);
  return integer.test(source) ? !Number.isSafeInteger(value) : !isExact(value, source);
}

/** Whether a double represents a decimal: fifteen significant digits always fit, if in range. */
function isExact(value: number, source: string): boolean {
  const digits = source
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits === '') return true;
  const isNormal = Number.isFinite(value) && Math.abs(value) > 2.3e-308;
  return isNormal && (digits.length <= 15 || String(value) === source);
}

/** Replaces marked strings with their numbers, in place. */
function restore(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return value.startsWith(marker) ? toNumber(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw new SyntaxError('Nested too deeply');
  // Every key is an own property, so assigning `__proto__` does not set the prototype.
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) members[key] = restore(members[key], levels - 1);
  return value;
}

function toNumber(marked: string): unknown {
  const source = marked.slice(marker.length);
  const isInteger = source.length <= maxIntegerLength && integer.test(source);
  return isInteger ? BigInt(source) : JSON.rawJSON(source);
}
