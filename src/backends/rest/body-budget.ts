import { places } from '../../places.ts';

/** The part that the bodies of one key may hold. */
const share = 0.75;

/** What the bodies of several calls may hold together, in bytes, and those of one key. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bytesOfKey = new Float64Array(places);
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False when there is not so much left for the key with this place; then nothing was taken. */
  take(place: number, bytes: number): boolean {
    const ofKey = (this.#bytesOfKey[place] ?? 0) + bytes;
    if (ofKey > this.#maxBytes * share || this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytesOfKey[place] = ofKey;
    this.#bytes += bytes;
    return true;
  }

  giveBack(place: number, bytes: number): void {
    this.#bytesOfKey[place] = (this.#bytesOfKey[place] ?? 0) - bytes;
    this.#bytes -= bytes;
  }
}
