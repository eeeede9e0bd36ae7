import { JsonScanner } from '../contract/json-scanner.ts';
import { badRequest } from './error.ts';

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
  const found = [
    [scanner.depth, 500, 'levels of nesting'],
    [scanner.values, 10_000, 'JSON values'],
    [numberLength, 1000, 'characters of a number'],
  ] as const;
  for (const [actual, maximum, what] of found) {
    if (actual <= maximum) continue;
    throw badRequest(`${name}: expected at most ${maximum} ${what}, received more.`);
  }
}
