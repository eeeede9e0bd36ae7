import type { Readable } from 'node:stream';
import { decodeContent } from '../contract/content-coding.ts';
import { decodeUtf8, parseBounded } from '../contract/json.ts';
import type { Limit } from '../limits/limit.ts';
import type { Scope } from '../request/scope.ts';
import { badRequest, HttpError } from './error.ts';
import type { RequestHead } from './http-message.ts';
import { Refusal } from './refusal.ts';

/** The most bytes of a request body. */
export const maxBodyBytes = 256 * 1024;

/** The most chunks of a body, because each costs CPU time even if it is small. */
const maxChunks = 4096;

/** How much is discarded of a refused body: most clients read the response only after it. */
const maxReadBytes = 64 * maxBodyBytes;

/** If more than `maxChunks` are smaller than this on average, the connection is closed immediately. */
const tinyChunkBytes = 64;

/** The bytes of each body that count towards no limit below. Most operations are smaller. */
const freeBytes = 16 * 1024;

/**
 * The body of a request of at most `maxBodyBytes`, or `freeBytes` without a key. Chunks after the first
 * are copied into one buffer that doubles, because even a chunk of one byte takes several hundred
 * bytes of memory.
 */
export class RequestBody {
  readonly #scope: Scope;
  readonly #limit: Limit;
  #bytes: Uint8Array = empty;
  /** The number of bytes received, refused ones included. */
  size = 0;
  #chunks = 0;
  #isDecoded = false;
  /** How many of the bytes count towards the limit. */
  #counted = 0;
  /** Why the body is refused, if it is. */
  error: HttpError | undefined;
  /** Called when nothing more is read of the stream. */
  onDiscarded: (() => void) | undefined;

  /** @param limit that of the bytes beyond `freeBytes`, until the request ends */
  constructor(scope: Scope, limit: Limit) {
    this.#scope = scope;
    this.#limit = limit;
  }

  /** Returns the bytes so far, none if there is no body. @throws HttpError if it was refused */
  read(): Uint8Array {
    if (this.error !== undefined) throw this.error;
    const isWhole = this.#bytes.byteLength === this.size;
    return isWhole ? this.#bytes : this.#bytes.subarray(0, this.size);
  }

  /** Adds a chunk, or drops it if the body is refused. Returns false if the rest must not be read. */
  push(chunk: Uint8Array): boolean {
    const start = this.size;
    this.size += chunk.byteLength;
    if (++this.#chunks === maxChunks + 1) {
      const problem = `arrives in too many chunks: expected at most ${maxChunks}`;
      this.refuse(bodyTooLarge(problem));
    }
    const error = this.error === undefined && this.size > freeBytes ? this.#take() : undefined;
    if (error !== undefined) this.refuse(error);
    if (this.error === undefined) {
      if (start === 0) this.#bytes = chunk;
      else this.#append(chunk, start);
    }
    return this.size <= maxReadBytes && (this.#chunks <= maxChunks || !this.#isTiny);
  }

  /** Reads a stream, and discards what is refused. Calls back at its end or refusal, if any. */
  readFrom(stream: Readable & { readonly rawBody?: unknown }, onEnd: () => void): void {
    if (stream.readableDidRead) {
      const message = 'The request body was already read: mount the gateway before body parsers.';
      // Of Google Cloud Functions, decoded.
      if (stream.rawBody instanceof Uint8Array) this.#isDecoded = this.push(stream.rawBody);
      else this.refuse(new HttpError(500, 'BODY_ALREADY_READ', message));
      onEnd();
      return;
    }
    let isOver = false;
    stream
      .on('data', (chunk: Uint8Array) => {
        const isReadOn = this.push(chunk);
        if (this.error !== undefined && !isOver) {
          isOver = true;
          onEnd();
        }
        if (isReadOn) return;
        // Node pushes all chunks that it has read, which costs least if the stream is destroyed.
        if (this.#isTiny) stream.destroy();
        else stream.pause();
        this.onDiscarded?.();
      })
      .on('end', () => {
        if (!isOver) onEnd();
        this.onDiscarded?.();
      });
  }

  /** Decodes the whole body by its `Content-Encoding`. The limits then count what it expands to, too. */
  decode(header: string): void {
    if (this.error !== undefined || this.size === 0 || this.#isDecoded) return;
    const body = this.read();
    try {
      const decoded = decodeContent(body, header, this.#maximum);
      [this.size, this.#chunks, this.#counted] = [0, 0, 0];
      if (decoded === undefined) this.refuse(unsupportedCoding(header));
      else this.push(decoded);
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      const problem = 'body: expected the encoding of its Content-Encoding, received other bytes.';
      this.refuse(isTooLarge ? this.#tooLarge() : badRequest(problem));
    }
  }

  /** Refuses the body, whatever arrives. */
  refuse(error: HttpError): void {
    this.error ??= error;
    this.#bytes = empty;
  }

  get #isTiny(): boolean {
    return this.size < tinyChunkBytes * this.#chunks;
  }

  get #maximum(): number {
    return this.#scope.key.credential === '' ? freeBytes : maxBodyBytes;
  }

  #tooLarge(): HttpError {
    const condition = this.#maximum === freeBytes ? ' without an API key' : '';
    return bodyTooLarge(`is too large: expected at most ${this.#maximum} bytes${condition}`);
  }

  /** Takes the bytes beyond those that are free. Returns the error if they are refused. */
  #take(): HttpError | undefined {
    if (this.size > this.#maximum) return this.#tooLarge();
    const more = this.size - freeBytes - this.#counted;
    this.#counted += more;
    const refusedBy = this.#limit.take(this.#scope.key, more);
    if (refusedBy) return new Refusal(refusedBy === 'key' ? 'body_bytes_of_key' : 'body_bytes');
    this.#scope.hold(this.#limit, more);
    return undefined;
  }

  #append(chunk: Uint8Array, start: number): void {
    if (this.size > this.#bytes.byteLength) {
      const grown = Buffer.allocUnsafe(Math.max(this.size, 2 * start));
      grown.set(this.#bytes.subarray(0, start));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, start);
  }
}

const empty = new Uint8Array(0);

function unsupportedCoding(header: string): HttpError {
  const received = JSON.stringify(header.slice(0, 100));
  const message = `content-encoding: expected gzip, deflate or br, received ${received}.`;
  const accepted = { 'accept-encoding': 'gzip, deflate, br' };
  return new HttpError(415, 'UNSUPPORTED_MEDIA_TYPE', message, accepted);
}

function bodyTooLarge(problem: string): HttpError {
  return new HttpError(413, 'BODY_TOO_LARGE', `The request body ${problem}.`);
}

/** Reads the JSON body, int64-exact. @throws HttpError 400, 413 or 415 that does not quote it. */
export function readJsonBody({ headers }: RequestHead, body: RequestBody): unknown {
  const type = headers['content-type'];
  if (type === undefined || !json.test(type)) throw jsonExpected(type);
  const bytes = body.read();
  let text: string;
  try {
    text = decodeUtf8(bytes);
  } catch {
    throw badRequest('body: expected UTF-8 text, received other bytes.');
  }
  return parseBounded('body', text, limits);
}

const token = "[\\w!#$%&'*+.^`|~-]+";
const parameter = `charset="?utf-?8"?|(?!charset=)${token}=(?:${token}|"(?:[^"\\\\]|\\\\.)*")`;
const jsonType = `application/json[ \\t]*(?:;[ \\t]*(?:(?:${parameter})[ \\t]*)?)*`;

/** The type has no parameters, so only another charset is refused. A repeated header is a list. */
const json = new RegExp(`^${jsonType}(?:,[ \\t]*${jsonType})*$`, 'i');

function jsonExpected(contentType: string | undefined): HttpError {
  const received = contentType === undefined ? 'none' : JSON.stringify(contentType.slice(0, 100));
  const message = `content-type: expected application/json in UTF-8, received ${received}. Send the body as a JSON object: forms and file uploads are not accepted.`;
  return new HttpError(415, 'UNSUPPORTED_MEDIA_TYPE', message);
}

const limits = { maxValues: 10_000, maxDigits: 1000, refuse: badRequest };

/** Parses the JSON of a part of a request, which the error names. @throws HttpError with status 400. */
export function parseSmallJson(name: string, text: string): unknown {
  return parseBounded(name, text, limits);
}
