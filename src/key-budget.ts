import { bucketCount } from './key-buckets.ts';

/** Limits the bytes that are held for all keys together, and for each key. */
export class KeyBudget {
  readonly #maxBytes: number;
  readonly #maxBytesPerKey: number;
  readonly #bytesOfKey = new Float64Array(bucketCount);
  #bytes = 0;

  /** @param keyFraction the fraction of the budget that one key may use, 0 to 1 */
  constructor(maxBytes: number, keyFraction: number) {
    this.#maxBytes = maxBytes;
    this.#maxBytesPerKey = maxBytes * keyFraction;
  }

  /**
   * Reserves bytes for the key with this bucket. Returns undefined; or the limit that would be
   * exceeded, with nothing reserved.
   */
  reserve(bucket: number, bytes: number): 'key' | 'all' | undefined {
    const ofKey = (this.#bytesOfKey[bucket] ?? 0) + bytes;
    if (ofKey > this.#maxBytesPerKey) return 'key';
    if (this.#bytes + bytes > this.#maxBytes) return 'all';
    this.#bytesOfKey[bucket] = ofKey;
    this.#bytes += bytes;
    return undefined;
  }

  release(bucket: number, bytes: number): void {
    this.#bytesOfKey[bucket] = (this.#bytesOfKey[bucket] ?? 0) - bytes;
    this.#bytes -= bytes;
  }
}
