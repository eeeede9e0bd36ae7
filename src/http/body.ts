import { bucketOf } from '../key-buckets.ts';
import { KeyBudget } from '../key-budget.ts';
import { HttpError } from './error.ts';
import { Refusal } from './refuse.ts';

/** The most bytes of a request body. */
export const maxBodyBytes = 256 * 1024;

/** The most chunks of a body, because each costs CPU time even if it is small. */
const maxChunks = 4096;

/**
 * A larger body is read up to this size, for clients that read the response only after sending it.
 */
const maxReadBytes = 4 * maxBodyBytes;

/**
 * The bytes of each body that do not count towards the limits below. Most operations are smaller.
 */
const freeBytes = 16 * 1024;

/**
 * The counted bytes of all bodies in this process, of which one key may use a quarter. A body counts
 * until its response is complete.
 */
const budget = new KeyBudget(32 * 1024 * 1024, 0.25);

/**
 * Collects the chunks of a body of at most `maxBodyBytes`, or `freeBytes` without a key. Chunks
 * after the first are copied into one buffer that doubles, because even a chunk of one byte takes
 * several hundred bytes of memory. A body of more than `freeBytes` is refused if it exceeds the
 * limits of counted bytes.
 */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #authorization: string | undefined;
  #bytes: Uint8Array = empty;
  #size = 0;
  #chunks = 0;
  #counted = 0;
  #refusal: HttpError | undefined;

  /** @param authorization the header of the request */
  constructor(authorization: string | undefined) {
    this.#maxBytes = authorization === undefined ? freeBytes : maxBodyBytes;
    this.#authorization = authorization;
  }

  /** Adds a chunk, or drops it after a refusal. Returns false if the rest must not be read. */
  push(chunk: Uint8Array): boolean {
    const start = this.#size;
    this.#size += chunk.byteLength;
    if (++this.#chunks === maxChunks + 1) this.#refuse(tooManyChunks());
    if (this.#refusal === undefined && this.#fits()) {
      if (start === 0) this.#bytes = chunk;
      else this.#append(chunk, start);
    }
    return this.#chunks <= maxChunks && this.#size <= maxReadBytes;
  }

  /** Returns the whole body, or its refusal. */
  end(): Uint8Array | HttpError {
    return this.#refusal ?? this.#bytes.subarray(0, this.#size);
  }

  /** Stops counting the body. Call it when the response is complete. */
  release(): void {
    if (this.#counted > 0) budget.release(this.#bucket(), this.#counted);
    this.#counted = 0;
  }

  #fits(): boolean {
    if (this.#size <= freeBytes) return true;
    if (this.#size > this.#maxBytes) return this.#refuse(bodyTooLarge(this.#maxBytes));
    const more = this.#size - freeBytes - this.#counted;
    const exceeded = budget.reserve(this.#bucket(), more);
    if (exceeded) {
      return this.#refuse(new Refusal(exceeded === 'key' ? 'body_bytes_of_key' : 'body_bytes'));
    }
    this.#counted += more;
    return true;
  }

  #refuse(refusal: HttpError): false {
    this.#refusal ??= refusal;
    this.#bytes = empty;
    this.release();
    return false;
  }

  #bucket(): number {
    return bucketOf(this.#authorization ?? '');
  }

  #append(chunk: Uint8Array, start: number): void {
    if (this.#size > this.#bytes.byteLength) {
      const grown = Buffer.allocUnsafe(Math.max(this.#size, 2 * start));
      grown.set(this.#bytes.subarray(0, start));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, start);
  }
}

const empty = new Uint8Array(0);

function bodyTooLarge(maxBytes: number): HttpError {
  const condition = maxBytes === maxBodyBytes ? '' : ' without an API key';
  return new HttpError(
    413,
    'BODY_TOO_LARGE',
    `The request body is too large: expected at most ${maxBytes} bytes${condition}.`,
  );
}

function tooManyChunks(): HttpError {
  return new HttpError(
    413,
    'BODY_TOO_LARGE',
    `The request body arrives in too many chunks: expected at most ${maxChunks}.`,
  );
}
