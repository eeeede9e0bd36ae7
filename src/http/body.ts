import { bucketCount, bucketOf } from '../key-buckets.ts';
import { HttpError, overloaded, tooManyRequests } from './error.ts';

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

/** The most counted bytes of all bodies together. A body counts until its response is complete. */
const maxCountedBytes = 32 * 1024 * 1024;

/** The most counted bytes per key. */
const maxCountedBytesPerKey = maxCountedBytes / 4;

/** The counted bytes of all bodies in this process, and per key. */
let countedBytes = 0;
const countedBytesPerKey = new Uint32Array(bucketCount);

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
    this.#count(-this.#counted);
  }

  #fits(): boolean {
    if (this.#size <= freeBytes) return true;
    const more = this.#size - freeBytes - this.#counted;
    const refusal = this.#checkLimits(more);
    if (refusal !== undefined) return this.#refuse(refusal);
    this.#count(more);
    return true;
  }

  #refuse(refusal: HttpError): false {
    this.#refusal ??= refusal;
    this.#bytes = empty;
    this.release();
    return false;
  }

  #checkLimits(more: number): HttpError | undefined {
    if (this.#size > this.#maxBytes) return bodyTooLarge(this.#maxBytes);
    const ofKey = countedBytesPerKey[bucketOf(this.#authorization ?? '')] ?? 0;
    if (ofKey + more > maxCountedBytesPerKey) return tooManyRequests();
    return countedBytes + more > maxCountedBytes ? overloaded() : undefined;
  }

  #count(bytes: number): void {
    if (bytes === 0) return;
    const bucket = bucketOf(this.#authorization ?? '');
    this.#counted += bytes;
    countedBytes += bytes;
    countedBytesPerKey[bucket] = (countedBytesPerKey[bucket] ?? 0) + bytes;
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
