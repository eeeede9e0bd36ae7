import { decodeErrorBody } from '../../contract/codec.ts';
import { type Decode, decoders } from '../../contract/content-coding.ts';
import { type ErrorBody, ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import { decodeUtf8 } from '../../contract/json.ts';
import { redactKey } from '../../contract/redact-key.ts';
import { readJson } from '../../contract/response-json.ts';
import type { Failed, Responded } from './outcome.ts';

/** Whether a response has one of these content codings. */
export function isEncoded(headers: Responded['headers']): boolean {
  return decoders.has(codingOf(headers));
}

/** Returns the decoded body of a response that is encoded, or why there is none. */
export function decodeBody(
  { status, headers, body }: Responded,
  maxBytes: number,
): Buffer | Failed {
  try {
    const decode = decoders.get(codingOf(headers)) as Decode;
    return decode(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const problem = `body: expected ${isTooLarge ? 'a smaller body' : 'the encoding of its header'}.`;
    return { why: 'invalid', status, problem, cause };
  }
}

/** Returns the content coding of a response, in lower case. */
function codingOf({ 'content-encoding': coding }: Responded['headers']): string {
  return coding === undefined ? 'identity' : String(coding).toLowerCase();
}

/**
 * Returns the text of a body.
 * @throws InvalidResponseError if its encoding is not decoded, it is not UTF-8, or of another media type.
 */
export function readText({ headers, body }: Responded): string {
  const coding = codingOf(headers);
  if (coding !== 'identity' && !decoders.has(coding)) {
    throw new InvalidResponseError('body: expected no encoding, gzip, br or deflate.');
  }
  const mediaType = headers['content-type'];
  if (mediaType !== undefined && !jsonType.test(String(mediaType))) {
    throw new InvalidResponseError('body: expected application/json, received another type.');
  }
  try {
    return decodeUtf8(body);
  } catch (cause) {
    throw new InvalidResponseError('body: expected UTF-8, received other bytes.', { cause });
  }
}

/**
 * Creates the error of a response that is not a success. An invalid body is ignored; that of a 5xx
 * is only for the log. The caller's key is redacted.
 */
export function readError(response: Responded, apiKey: string): ErrorResponse {
  const { status, headers } = response;
  const retryAfterMs = parseRetryAfter(headers['retry-after']);
  const message = `The pet store returned HTTP status ${status}.`;
  const body = status < 400 ? undefined : readErrorBody(response, apiKey);
  return status < 500
    ? new ErrorResponse(status, body?.message ?? message, { body, retryAfterMs })
    : new ErrorResponse(status, message, { hidden: body, retryAfterMs });
}

function readErrorBody(response: Responded, apiKey: string): ErrorBody | undefined {
  try {
    const json = readJson(readText(response));
    const body = decodeErrorBody(json) ?? decodeProblem(json, response.status);
    if (body === undefined) return undefined;
    const { code, message } = body;
    return { ...body, code: redactKey(code, apiKey), message: redactKey(message, apiKey) };
  } catch {
    return undefined;
  }
}

/** Converts `application/problem+json` (RFC 9457) to an Error body. */
function decodeProblem(json: unknown, status: number): ErrorBody | undefined {
  const { title, detail, type } = (json ?? {}) as Record<string, unknown>;
  const message = typeof detail === 'string' ? detail : title;
  if (typeof message !== 'string') return undefined;
  return { code: typeof type === 'string' ? type : 'about:blank', message, status };
}

/** The longest time that a timer can wait, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Parses Retry-After, in seconds or as an HTTP date in one of its three forms (RFC 9110, sections
 * 10.2.3 and 5.6.7), to milliseconds, which are capped so that they fit a timer.
 */
export function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^[0-9]+$/.test(header)) return Math.min(Number(header) * 1000, maxTimerMs);
  if (!httpDate.test(header)) return undefined;
  // The asctime form has no zone; all HTTP dates are in UTC.
  const date = Date.parse(header.endsWith('GMT') ? header : `${header} GMT`);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - Date.now()), maxTimerMs);
}

const httpDate = /^[A-Z][a-z]{2,8},? [\w -]+ \d\d:\d\d:\d\d (?:GMT|\d{4})$/;

const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
