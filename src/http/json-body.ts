import { decodeUtf8, indexOfError, type JsonLimits, parseBounded } from '../contract/json.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import { badRequest, HttpError } from './error.ts';

/** Reads the JSON body, int64-exact. @throws HttpError 400, 413 or 415 that does not quote it. */
export function readJsonBody({ head, body }: GatewayRequest): unknown {
  requireJson(head.headers['content-type']);
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

const limits: JsonLimits = {
  maxValues: 10_000,
  maxDigits: 1000,
  refuse: badRequest,
  describe(text) {
    if (text === '') return 'nothing';
    const lines = text.slice(0, indexOfError(text)).split('\n');
    return `something else in line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  },
};

/** Parses the JSON of a part of a request, which the error names. @throws HttpError with status 400. */
export function parseSmallJson(name: string, text: string): unknown {
  return parseBounded(name, text, limits);
}
