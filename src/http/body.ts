import type { Readable } from 'node:stream';
import type { Release, Share } from '../limits/share.ts';
import { HttpError } from './error.ts';
import { Refusal } from './refuse.ts';

/** The event by which a server refuses a body before its end, with an `HttpError`. */
export const bodyRefused = Symbol('bodyRefused');

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
 * Collects the chunks of a body of at most `maxBodyBytes`, or `freeBytes` without a key. Chunks
 * after the first are copied into one buffer that doubles, because even a chunk of one byte takes
 * several hundred bytes of memory.
 */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #key: number;
  readonly #bodyBytes: Share;
  #bytes: Uint8Array = empty;
  #size = 0;
  #chunks = 0;
  #release: Release | undefined;
  #refusal: HttpError | undefined;

  /**
   * @param key that of the request
   * @param bodyBytes limits the bytes of bodies beyond `freeBytes` each, until their responses
   */
  constructor(key: number, bodyBytes: Share) {
    this.#maxBytes = key === 0 ? freeBytes : maxBodyBytes;
    this.#key = key;
    this.#bodyBytes = bodyBytes;
  }

  /** Adds a chunk, or drops it after a refusal. Returns false if the rest must not be read. */
  push(chunk: Uint8Array): boolean {
    const start = this.#size;
    this.#size += chunk.byteLength;
    if (++this.#chunks === maxChunks + 1) {
      const problem = `arrives in too many chunks: expected at most ${maxChunks}`;
      this.#refuse(bodyTooLarge(problem));
    }
    if (this.#refusal === undefined && (this.#size <= freeBytes || this.#fits())) {
      if (start === 0) this.#bytes = chunk;
      else this.#append(chunk, start);
    }
    return this.#chunks <= maxChunks && this.#size <= maxReadBytes;
  }

  /** Returns the whole body, or its refusal. */
  end(): Uint8Array | HttpError {
    return this.#refusal ?? this.#bytes.subarray(0, this.#size);
  }

  /**
   * Reads a stream. Resolves to what `end` returns, or to undefined if the stream fails. Calls `onRest`
   * first if the rest of the stream is left unread.
   */
  read(stream: Readable, onRest: () => void): Promise<Uint8Array | HttpError | undefined> {
    if (stream.readableDidRead) {
      const message = 'The request body was already read: mount the gateway before body parsers.';
      return Promise.resolve(new HttpError(500, 'INTERNAL_SERVER_ERROR', message));
    }
    const { promise, resolve } = Promise.withResolvers<Uint8Array | HttpError | undefined>();
    if (stream.destroyed) resolve(undefined);
    let isLeft = false;
    const leaveRest = (refusal: Uint8Array | HttpError) => {
      if (isLeft) return;
      isLeft = true;
      onRest();
      stream.pause();
      resolve(refusal);
    };
    stream
      .on('data', (chunk: Uint8Array) => {
        if (!this.push(chunk)) leaveRest(this.end());
      })
      .on(bodyRefused, leaveRest)
      .on('end', () => resolve(this.end()))
      .on('error', () => {
        this[Symbol.dispose]();
        resolve(undefined);
      });
    return promise;
  }

  /** Stops counting the body. Call it when the response is complete. */
  [Symbol.dispose](): void {
    this.#release?.();
    this.#release = undefined;
  }

  #fits(): boolean {
    if (this.#size > this.#maxBytes) {
      const condition = this.#key === 0 ? ' without an API key' : '';
      const problem = `is too large: expected at most ${this.#maxBytes} bytes${condition}`;
      return this.#refuse(bodyTooLarge(problem));
    }
    this[Symbol.dispose]();
    const taken = this.#bodyBytes.take(this.#key, this.#size - freeBytes);
    if (taken === 'key') return this.#refuse(new Refusal('body_bytes_of_key'));
    if (taken === 'all') return this.#refuse(new Refusal('body_bytes'));
    this.#release = taken;
    return true;
  }

  #refuse(refusal: HttpError): false {
    this.#refusal ??= refusal;
    this.#bytes = empty;
    this[Symbol.dispose]();
    return false;
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

function bodyTooLarge(problem: string): HttpError {
  return new HttpError(413, 'BODY_TOO_LARGE', `The request body ${problem}.`);
}
