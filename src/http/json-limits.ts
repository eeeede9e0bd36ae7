import { JsonScanner } from '../contract/json-scanner.ts';
import { badRequest, type HttpError } from './error.ts';

/** The limits of JSON in a request. */
const limits = { depth: 500, values: 10_000, numberLength: 1000 };

/** Valid JSON of at most this length can't exceed the limits. */
const harmlessLength = 1000;

/**
 * Refuses JSON that is far more expensive to parse and check than its size suggests.
 * @param name the part of the request, for the error message
 * @throws HttpError with status 400
 */
export function requireSmallJson(name: string, text: string): void {
  if (text.length <= harmlessLength) return;
  const scanner = new JsonScanner();
  let numberLength = 0;
  try {
    // The space ends a number.
    scanner.push(Buffer.from(`${text} `), (start, end) => {
      numberLength = Math.max(numberLength, end - start);
    });
  } catch {
    // Not JSON: the parser stops at the same position and reports it.
  }
  const { depth, values } = scanner;
  if (depth > limits.depth) throw tooMuch(name, limits.depth, 'levels of nesting');
  if (values > limits.values) throw tooMuch(name, limits.values, 'JSON values');
  if (numberLength > limits.numberLength) {
    throw tooMuch(name, limits.numberLength, 'characters of a number');
  }
}

function tooMuch(name: string, maximum: number, what: string): HttpError {
  return badRequest(`${name}: expected at most ${maximum} ${what}, received more.`);
}
