import { placeOf, places } from '../places.ts';
import { HttpError, overloaded, tooManyRequests } from './error.ts';

/** The most that a request body may hold, in bytes. */
export const maxBodyBytes = 256 * 1024;

/** In how many chunks a body may arrive: each costs processor time, however small it is. */
const maxChunks = 4096;

/** How much of a body that is too large is read, in bytes, for a client that reads when it has written. */
const maxReadBytes = 4 * maxBodyBytes;

/** What every body may hold without being counted, in bytes: most operations are smaller. */
const freeBytes = 16 * 1024;

/** What all bodies may hold beyond that together, in bytes, until their requests are answered. */
const maxCountedBytes = 32 * 1024 * 1024;

/** Of that, what the bodies of one key may hold. */
const maxCountedBytesPerKey = maxCountedBytes / 4;

/** The counted bytes of the bodies that this process holds, and those of each key. */
let countedBytes = 0;
const countedBytesPerKey = new Uint32Array(places);

/**
 * Collects a body while it arrives, of at most `maxBodyBytes`, or `freeBytes` without a key. Chunks
 * after the first are copied into one buffer that doubles, because a chunk of one byte is an object of
 * several hundred bytes. When large bodies take too much together, or those of one key, the next large
 * one is refused; small ones are not.
 */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #authorization: string | undefined;
  #bytes: Uint8Array = empty;
  #size = 0;
  #chunks = 0;
  #counted = 0;
  #refusal: HttpError | undefined;

  /** `authorization` is the header of the request. */
  constructor(authorization: string | undefined) {
    this.#maxBytes = authorization === undefined ? freeBytes : maxBodyBytes;
    this.#authorization = authorization;
  }

  /** Takes the next chunk, and drops it after a refusal. False when no more of the body is to be read. */
  push(chunk: Uint8Array): boolean {
    const start = this.#size;
    this.#size += chunk.byteLength;
    if (++this.#chunks === maxChunks + 1) this.#refuse(tooManyChunks());
    if (this.#refusal === undefined && this.#mayHold()) {
      if (start === 0) this.#bytes = chunk;
      else this.#append(chunk, start);
    }
    return this.#chunks <= maxChunks && this.#size <= maxReadBytes;
  }

  /** The whole body, or its refusal. */
  end(): Uint8Array | HttpError {
    return this.#refusal ?? this.#bytes.subarray(0, this.#size);
  }

  /** Gives back what the body took of what all may hold. */
  release(): void {
    this.#count(-this.#counted);
  }

  #mayHold(): boolean {
    if (this.#size <= freeBytes) return true;
    const more = this.#size - freeBytes - this.#counted;
    const refusal = this.#whyNot(more);
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

  #whyNot(more: number): HttpError | undefined {
    if (this.#size > this.#maxBytes) return bodyTooLarge(this.#maxBytes);
    const ofKey = countedBytesPerKey[placeOf(this.#authorization ?? '')] ?? 0;
    if (ofKey + more > maxCountedBytesPerKey) return tooManyRequests();
    return countedBytes + more > maxCountedBytes ? overloaded() : undefined;
  }

  #count(bytes: number): void {
    if (bytes === 0) return;
    const place = placeOf(this.#authorization ?? '');
    this.#counted += bytes;
    countedBytes += bytes;
    countedBytesPerKey[place] = (countedBytesPerKey[place] ?? 0) + bytes;
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
  const whose = maxBytes === maxBodyBytes ? '' : ' without an API key';
  return new HttpError(
    413,
    'BODY_TOO_LARGE',
    `The request body is too large: expected at most ${maxBytes} bytes${whose}.`,
  );
}

function tooManyChunks(): HttpError {
  return new HttpError(
    413,
    'BODY_TOO_LARGE',
    `The request body arrives in too many chunks: expected at most ${maxChunks}.`,
  );
}
