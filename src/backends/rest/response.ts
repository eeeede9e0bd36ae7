import { errors } from 'undici';
import { redactKey } from '../../contract/bearer.ts';
import type { Caller } from '../../contract/caller.ts';
import { decodeErrorBody } from '../../contract/codec.ts';
import { decodeContent } from '../../contract/content-coding.ts';
import {
  type ErrorBody,
  ErrorResponse,
  IdempotencyKeyReusedError,
  InvalidResponseError,
} from '../../contract/error.ts';
import { decodeUtf8, jsonType } from '../../contract/json.ts';
import { readJson } from '../../contract/response-json.ts';
import { serviceName } from '../../contract/service-name.ts';
import type { ApiKey } from '../../keys/api-key.ts';
import { turnBytes } from '../../limits/turns.ts';
import type { Origin } from './origin.ts';
import { type Failed, isSuccess, type Outcome, type Responded } from './outcome.ts';

/** A longer or slower body of an error response is truncated: its status is sufficient. */
export const errorBodyLimits = { maxBytes: 16 * 1024, timeoutMs: 1000 };

const noBytes: Buffer = Buffer.alloc(0);

/** A response as far as it has arrived, and the memory that it takes from the limit of its origin. */
export class Received implements Responded {
  readonly why = undefined;
  readonly status: number;
  readonly headers: Responded['headers'];
  body = noBytes;
  readonly #origin: Origin;
  readonly #key: ApiKey;
  #counted = 0;
  #buffer = noBytes;

  constructor(status: number, headers: Responded['headers'], origin: Origin, key: ApiKey) {
    this.status = status;
    this.headers = headers;
    this.#origin = origin;
    this.#key = key;
  }

  /**
   * Adds a chunk. Copies all but a single one into one buffer, because each Buffer has an overhead.
   * Returns what ends the call before its response is complete.
   */
  add(chunk: Buffer): Received | Failed | undefined {
    const start = this.body.byteLength;
    const size = start + chunk.byteLength;
    const noMemory = this.#count(chunk.byteLength);
    if (noMemory !== undefined) return noMemory;
    if (start === 0) this.body = chunk;
    else {
      if (size > this.#buffer.byteLength) {
        this.#buffer = Buffer.allocUnsafeSlow(Math.max(2 * size, 4096));
        this.body.copy(this.#buffer);
      }
      chunk.copy(this.#buffer, start);
      this.body = this.#buffer.subarray(0, size);
    }
    return this.status >= 300 && size > errorBodyLimits.maxBytes ? this : undefined;
  }

  /** Returns the response with its body decoded, to which the same limits apply, or why that failed. */
  decode(): Responded | Failed {
    const { status, headers, body } = this;
    const coding = headers['content-encoding'];
    if (body.byteLength === 0 || !coding) return this;
    const maxBytes = status < 300 ? this.#origin.maxBodyBytes : errorBodyLimits.maxBytes;
    let problem = 'body: expected no encoding, or at most five of gzip, br and deflate.';
    try {
      const decoded = decodeContent(body, String(coding), maxBytes);
      if (decoded === undefined) return { why: 'invalid', status, problem };
      return this.#count(decoded.byteLength) ?? { status, headers, body: decoded };
    } catch (cause) {
      const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      problem = `body: expected ${isTooLarge ? 'a smaller body' : 'the encoding of its header'}.`;
      return { why: 'invalid', status, problem, cause };
    }
  }

  /** Frees its memory. A large body stays counted until the request of its reader ends. */
  release(reader?: Caller): void {
    const bytes = this.#counted;
    if (reader && bytes > turnBytes) reader.hold(this.#origin.bodyBytes, bytes);
    else this.#origin.bodyBytes.release(this.#key, bytes);
    this.#counted = 0;
  }

  /** Takes memory. Returns why there is none. */
  #count(bytes: number): Failed | undefined {
    const refusedBy = this.#origin.bodyBytes.take(this.#key, bytes);
    if (refusedBy !== undefined) return { why: 'noMemory', retryAfterMs: 1000 };
    this.#counted += bytes;
    return undefined;
  }
}

/** Whether it is a success whose body takes milliseconds to decode or read. */
export function isLarge(outcome: Outcome): boolean {
  if (!isSuccess(outcome)) return false;
  const { headers, body } = outcome;
  return body.byteLength > turnBytes || headers['content-encoding'] !== undefined;
}

/** Whether undici refuses a whole body: it reads a blank after Content-Length (RFC 9110, 5.5) as a digit. */
export function isMiscounted({ headers, body }: Responded, cause: Error): boolean {
  const isCounted = cause instanceof errors.ResponseContentLengthMismatchError;
  return isCounted && Number(headers['content-length']) === body.byteLength;
}

/**
 * Returns the text of a body, which may have an unclear type.
 * @throws InvalidResponseError if it is not UTF-8, or of another media type.
 */
export function readText({ headers, body }: Responded): string {
  const type = String(headers['content-type'] ?? 'application/json');
  if (oneType.test(type) && !jsonMediaType.test(type)) {
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
 * is only for the log. The caller's key is redacted. `mayBeRepeated`: a 409 may be for a write in flight, and a 422 for other values.
 */
export function readError(response: Responded, apiKey: string, mayBeRepeated = false) {
  const { status, headers } = response;
  const retryAfterMs = parseRetryAfter(headers['retry-after']);
  const message = `The ${serviceName} returned HTTP status ${status}.`;
  const body = status < 400 ? undefined : readErrorBody(response, apiKey);
  if (status >= 500) return new ErrorResponse(status, message, { hidden: body, retryAfterMs });
  const isReused = /^\S*idempoten|idempotency.key/i.test(`${body?.code} ${body?.message}`);
  if (status === 422 && mayBeRepeated && isReused) {
    return new IdempotencyKeyReusedError();
  }
  const inFlight = status === 409 && mayBeRepeated && { writeOutcome: 'UNKNOWN' as const };
  const details = { body, retryAfterMs, ...inFlight };
  return new ErrorResponse(status, body?.message.trim() || message, details);
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

/** Converts `application/problem+json` (RFC 9457), with errors by field, to an Error body. */
function decodeProblem(json: unknown, status: number): ErrorBody | undefined {
  const { title, detail, type, errors } = (json ?? {}) as Record<string, unknown>;
  // ASP.NET's are an object; those of RFC 9457, section 3, a list.
  const fields: [unknown, unknown][] = Array.isArray(errors)
    ? errors.map((one) => [one?.pointer, one?.detail])
    : Object.entries(jsonType(errors) === 'object' ? (errors as object) : {});
  const ofFields = fields.flatMap(([name, found]) =>
    [found].flat().map((text) => isFilled(text) && (isFilled(name) ? `${name}: ${text}` : text)),
  );
  const message = [[detail, title].find(isFilled), ...ofFields].filter(isFilled).join(' ');
  return message ? { code: isFilled(type) ? type : 'about:blank', message, status } : undefined;
}

const isFilled = (text: unknown): text is string => typeof text === 'string' && text.trim() !== '';

/** The longest time that a timer can wait, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Parses Retry-After, in seconds or as an HTTP date in one of its three forms (RFC 9110, sections
 * 10.2.3 and 5.6.7), to milliseconds, which are capped so that they fit a timer. Fractions count as 1 s.
 */
export function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  const [text = '', other] = new Set([header ?? []].flat().map((line) => line.trim()));
  if (other !== undefined) return undefined;
  const seconds = /^[+.\d][-+.\de]*$/i.test(text) ? Math.ceil(Number(text)) : Number.NaN;
  if (seconds >= 0) return Math.min(seconds * 1000, maxTimerMs);
  if (!httpDate.test(text)) return undefined;
  // The asctime form has no zone; all HTTP dates are in UTC.
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - Date.now()), maxTimerMs);
}

/** How long to wait before a retry, in milliseconds. The jitter spreads those of concurrent calls. */
export function pauseMsBefore(outcome: Outcome, attempts: number): number {
  const after = outcome.why === undefined && parseRetryAfter(outcome.headers['retry-after']);
  // It may wait long for a write in flight.
  return Math.max((20 + 80 * Math.random()) * Math.min(attempts, 8), after || 0);
}

const httpDate = /^[A-Z][a-z]{2,8},? [\w -]+ \d\d:\d\d:\d\d (?:GMT|\d{4})$/;

const jsonMediaType = /^\s*application\/(?:[^\s/;,]+\+)?json\s*(?:;|$)/i;
const oneType = /^\s*[^\s/;,]+\/[^\s/;,]+\s*(?:;(?:[^",]|"(?:[^"\\]|\\.)*")*)?$/;
