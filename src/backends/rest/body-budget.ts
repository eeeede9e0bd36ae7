import { bucketCount } from '../../key-buckets.ts';

/** Maximum fraction of the budget for the bodies of one key. */
const maxKeyFraction = 0.75;

/** Limits the bytes that the bodies of all calls, and of one key, hold together. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bytesOfKey = new Float64Array(bucketCount);
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Reserves bytes for the key with this bucket. Returns false if too few are left. */
  reserve(bucket: number, bytes: number): boolean {
    const ofKey = (this.#bytesOfKey[bucket] ?? 0) + bytes;
    if (ofKey > this.#maxBytes * maxKeyFraction || this.#bytes + bytes > this.#maxBytes) {
      return false;
    }
    this.#bytesOfKey[bucket] = ofKey;
    this.#bytes += bytes;
    return true;
  }

  release(bucket: number, bytes: number): void {
    this.#bytesOfKey[bucket] = (this.#bytesOfKey[bucket] ?? 0) - bytes;
    this.#bytes -= bytes;
  }
}
