import { places } from '../../places.ts';

/** Maximum fraction of the budget for the bodies of one key. */
const maxKeyFraction = 0.75;

/** Limits the bytes that the bodies of all calls, and of one key, hold together. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bytesOfKey = new Float64Array(places);
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Reserves bytes for the key with this place. Returns false if too few are left. */
  reserve(place: number, bytes: number): boolean {
    const ofKey = (this.#bytesOfKey[place] ?? 0) + bytes;
    if (ofKey > this.#maxBytes * maxKeyFraction || this.#bytes + bytes > this.#maxBytes) {
      return false;
    }
    this.#bytesOfKey[place] = ofKey;
    this.#bytes += bytes;
    return true;
  }

  release(place: number, bytes: number): void {
    this.#bytesOfKey[place] = (this.#bytesOfKey[place] ?? 0) - bytes;
    this.#bytes -= bytes;
  }
}
