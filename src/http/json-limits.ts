import { scanJson } from '../contract/scan-json.ts';
import { HttpError } from './error.ts';

/** The most that the JSON of a request may have of each. */
const limits = { depth: 500, values: 10_000, numberLength: 1000 };

/** A shorter text exceeds none of the limits, unless it is no JSON either. */
const harmlessLength = 1000;

/**
 * Refuses JSON that would cost far more to parse and to check than its bytes do.
 * @throws HttpError with status 400; `name` says which part of the request it was.
 */
export function requireSmallJson(name: string, text: string): void {
  if (text.length <= harmlessLength) return;
  let numberLength = 0;
  const { depth, values } = scanJson(text, (start, end) => {
    numberLength = Math.max(numberLength, end - start);
  });
  if (depth > limits.depth) throw tooMuch(name, limits.depth, 'levels of nesting');
  if (values > limits.values) throw tooMuch(name, limits.values, 'JSON values');
  if (numberLength > limits.numberLength) {
    throw tooMuch(name, limits.numberLength, 'characters of a number');
  }
}

function tooMuch(name: string, maximum: number, what: string): HttpError {
  const message = `${name}: expected at most ${maximum} ${what}, received more.`;
  return new HttpError(400, 'BAD_REQUEST', message);
}
