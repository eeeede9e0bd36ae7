import { HttpError, overloaded } from './error.ts';

/** The most that a request body may hold, in bytes. */
export const maxBodyBytes = 256 * 1024;

/** What every body may hold without being counted, in bytes: most operations are smaller. */
const freeBytes = 16 * 1024;

/** What all bodies may hold beyond that together, in bytes, until their requests are answered. */
const maxCountedBytes = 32 * 1024 * 1024;

/** The counted bytes of the bodies that this process holds. */
let countedBytes = 0;

/**
 * Collects a body of at most `maxBodyBytes` while it arrives. Chunks after the first are copied into
 * one buffer that doubles, because a chunk of one byte is an object of several hundred. When large
 * bodies take too much together, the next large one is refused; small ones are not.
 */
export class BodyReader {
  #bytes: Uint8Array = empty;
  #size = 0;
  #counted = 0;
  #refusal: HttpError | undefined;

  /** Takes the next chunk; what comes after a refusal is dropped. */
  push(chunk: Uint8Array): void {
    if (this.#refusal !== undefined) return;
    const start = this.#size;
    this.#size += chunk.byteLength;
    if (this.#size > freeBytes && !this.#mayHold()) return;
    if (start === 0) this.#bytes = chunk;
    else this.#append(chunk, start);
  }

  /** The whole body, or its refusal. */
  end(): Uint8Array | HttpError {
    return this.#refusal ?? this.#bytes.subarray(0, this.#size);
  }

  /** Gives back what the body took of what all may hold. */
  release(): void {
    countedBytes -= this.#counted;
    this.#counted = 0;
  }

  #mayHold(): boolean {
    const more = this.#size - freeBytes - this.#counted;
    if (this.#size > maxBodyBytes) this.#refusal = bodyTooLarge();
    else if (countedBytes + more > maxCountedBytes) this.#refusal = overloaded();
    if (this.#refusal === undefined) {
      countedBytes += more;
      this.#counted += more;
      return true;
    }
    this.#bytes = empty;
    this.release();
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

function bodyTooLarge(): HttpError {
  return new HttpError(
    413,
    'BODY_TOO_LARGE',
    `The request body is too large: expected at most ${maxBodyBytes} bytes.`,
  );
}
