import { HttpError } from './error.ts';

/** The most that a request body may hold, in bytes. */
export const maxBodyBytes = 256 * 1024;

/** The refusal of a body beyond `maxBodyBytes`. */
export function bodyTooLarge(): HttpError {
  return new HttpError(
    413,
    'BODY_TOO_LARGE',
    `The request body is too large: expected at most ${maxBodyBytes} bytes.`,
  );
}

/**
 * Collects a body of at most `maxBodyBytes` while it arrives. Chunks after the first are copied into
 * one buffer that doubles, because a chunk of one byte is an object of several hundred.
 */
export class BodyReader {
  #bytes: Uint8Array = empty;
  #size = 0;

  /** Takes the next chunk; what comes after the limit is counted and dropped. */
  push(chunk: Uint8Array): void {
    const start = this.#size;
    this.#size += chunk.byteLength;
    if (this.#size > maxBodyBytes) this.#bytes = empty;
    else if (start === 0) this.#bytes = chunk;
    else this.#append(chunk, start);
  }

  /** The whole body, or its refusal. */
  end(): Uint8Array | HttpError {
    return this.#size > maxBodyBytes ? bodyTooLarge() : this.#bytes.subarray(0, this.#size);
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
