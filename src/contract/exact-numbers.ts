import { randomUUID } from 'node:crypto';
import { scanJson } from './scan-json.ts';

/** Begins the strings that stand for numbers. No other string does: it is known to this process only. */
const mark = `\0${randomUUID()}`;
const openingMark = `"\\u0000${mark.slice(1)}`;

/** The most levels of arrays and objects, so that a walk over them does not overflow the stack. */
const maxDepth = 500;

/** The most characters of an integer that is worth a bigint: to make one takes the square of them. */
const maxIntegerLength = 64;

/**
 * Parses JSON whose numbers may have more digits than a double. These go through `JSON.parse` as
 * strings: a reviver, which is called with the text of every value, takes ten times as long.
 * @throws SyntaxError on text that is not JSON, or nested too deeply to be read.
 */
export function parseExactly(text: string): unknown {
  let marked = '';
  let copied = 0;
  const { depth } = scanJson(text, (start, end) => {
    const source = text.slice(start, end);
    if (!losesDigits(source) || isKey(text, end)) return;
    marked += `${text.slice(copied, start)}${openingMark}${source}"`;
    copied = end;
  });
  if (depth > maxDepth) throw new SyntaxError('Nested too deeply');
  if (copied === 0) return JSON.parse(text);
  return restore(JSON.parse(marked + text.slice(copied)));
}

const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
const integer = /^-?[0-9]+$/;

/** False for what is no number of JSON's, too, which is left for `JSON.parse` to refuse. */
function losesDigits(source: string): boolean {
  // Fifteen digits always fit.
  if (source.length < 16 && !/[eE]/.test(source)) return false;
  if (!number.test(source)) return false;
  const value = Number(source);
  return integer.test(source) ? !Number.isSafeInteger(value) : !isExact(value, source);
}

/** Whether a double holds a decimal: fifteen significant digits always fit, unless out of range. */
function isExact(value: number, source: string): boolean {
  const digits = source
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits === '') return true;
  const isNormal = Number.isFinite(value) && Math.abs(value) > 2.3e-308;
  return isNormal && (digits.length <= 15 || String(value) === source);
}

const colon = /[ \t\r\n]*:/y;

/** Whether a number stands where a key should: as a string it would be one. */
function isKey(text: string, end: number): boolean {
  colon.lastIndex = end;
  return colon.test(text);
}

/** The value with the numbers that its strings stand for; arrays and objects stay the same ones. */
function restore(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? toNumber(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = restore(value[index]);
    return value;
  }
  // Every key is the object's own, so that setting `__proto__` sets no prototype.
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) members[key] = restore(members[key]);
  return value;
}

function toNumber(marked: string): unknown {
  const source = marked.slice(mark.length);
  const isInteger = source.length <= maxIntegerLength && integer.test(source);
  return isInteger ? BigInt(source) : JSON.rawJSON(source);
}
