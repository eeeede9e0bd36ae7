import { decodeUtf8, parseJson } from '../contract/json.ts';
import { JsonScanner } from '../contract/json-scanner.ts';
import { badRequest, HttpError } from './error.ts';
import { isJsonType, unsupportedMediaType } from './media-type.ts';
import type { HttpRequest } from './message.ts';

/**
 * Reads the JSON body of a request, with exact int64 values.
 * @throws HttpError with status 400, 413 or 415. It does not quote the body.
 */
export function readJsonBody({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): unknown {
  const contentType = headers['content-type'];
  if (!isJsonType(contentType)) throw unsupportedMediaType(contentType);
  if (body instanceof HttpError) throw body;
  let text: string;
  try {
    text = decodeUtf8(body);
  } catch {
    throw badRequest('body: expected UTF-8 text, received other bytes.');
  }
  return parseSmallJson('body', text);
}

/**
 * Parses the JSON of a part of a request, which the error names.
 * @throws HttpError with status 400. It does not quote the text, as the parser would.
 */
export function parseSmallJson(name: string, text: string): unknown {
  if (text.length > harmlessLength) requireSmallJson(name, text);
  try {
    return parseJson(text);
  } catch {
    throw badRequest(`${name}: expected JSON, received other text.`);
  }
}

/** Valid JSON of at most this length can't exceed the limits. */
const harmlessLength = 1000;

/** Refuses JSON that is far more expensive to parse and check than its size suggests. */
function requireSmallJson(name: string, text: string): void {
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
