import { decodeUtf8, parseJson, sizeOfJson, toBigInt } from '../contract/json.ts';
import { badRequest, HttpError } from './error.ts';
import type { HttpRequest } from './http-message.ts';

/**
 * Reads the JSON body of a request, with exact int64 values.
 * @throws HttpError with status 400, 413 or 415. It does not quote the body.
 */
export function readJsonBody({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): unknown {
  requireJson(headers['content-type']);
  const bytes = body.read();
  let text: string;
  try {
    text = decodeUtf8(bytes);
  } catch {
    throw badRequest('body: expected UTF-8 text, received other bytes.');
  }
  return parseSmallJson('body', text);
}

const token = "[\\w!#$%&'*+.^`|~-]+";
const parameter = `charset="?utf-?8"?|(?!charset=)${token}=(?:${token}|"(?:[^"\\\\]|\\\\.)*")`;
const jsonType = `application/json[ \\t]*(?:;[ \\t]*(?:(?:${parameter})[ \\t]*)?)*`;

/** The type has no parameters, so only another charset is refused. A repeated header is a list. */
const json = new RegExp(`^${jsonType}(?:,[ \\t]*${jsonType})*$`, 'i');

function requireJson(contentType: string | undefined): void {
  if (contentType !== undefined && json.test(contentType)) return;
  const received = contentType === undefined ? 'none' : JSON.stringify(contentType.slice(0, 100));
  const message = `content-type: expected application/json in UTF-8, received ${received}. Send the body as a JSON object: forms and file uploads are not accepted.`;
  throw new HttpError(415, 'UNSUPPORTED_MEDIA_TYPE', message);
}

/**
 * Parses the JSON of a part of a request, which the error names, unless it is far more expensive to
 * parse and check than its size suggests.
 * @throws HttpError with status 400. It does not quote the text, as the parser would.
 */
export function parseSmallJson(name: string, text: string): unknown {
  try {
    // Valid JSON of this length can't exceed the limits.
    if (text.length <= 1000) return parseJson(text);
    const { values, depth } = sizeOfJson(text);
    if (depth > 500) throw tooMuch(name, 500, 'levels of nesting');
    if (values > 10_000) throw tooMuch(name, 10_000, 'JSON values');
    return parseJson(text, (source) => {
      if (source.length > 1000) throw tooMuch(name, 1000, 'characters of a number');
      return toBigInt(source);
    });
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw badRequest(`${name}: expected JSON, received other text.`);
  }
}

function tooMuch(name: string, maximum: number, what: string): HttpError {
  return badRequest(`${name}: expected at most ${maximum} ${what}, received more.`);
}
