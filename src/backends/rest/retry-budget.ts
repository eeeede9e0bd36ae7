import { places } from '../../places.ts';

/** The part of a burst that one key may have. */
const share = 0.5;

/**
 * Keeps retries a fraction of the calls, so that they can't multiply the load on a service that is
 * going down. A key beyond its share is left without retries, and other keys have theirs.
 */
export class RetryBudget {
  readonly #perCall: number;
  readonly #capacity: number;
  /** What each key has taken and its calls have not earned since. */
  readonly #owed = new Float64Array(places);
  #balance: number;

  /** Allows `perCall` retries a call on average, and up to `capacity` in a burst. */
  constructor(perCall = 0.1, capacity = 10) {
    this.#perCall = perCall;
    this.#capacity = capacity;
    this.#balance = capacity;
  }

  /** Notes a call of the key with this place. */
  deposit(place: number): void {
    this.#balance = Math.min(this.#capacity, this.#balance + this.#perCall);
    const owed = this.#owed[place] ?? 0;
    if (owed > 0) this.#owed[place] = Math.max(0, owed - this.#perCall);
  }

  /** Takes a retry out of the budget; false when there is none left for the key. */
  withdraw(place: number): boolean {
    const owed = (this.#owed[place] ?? 0) + 1;
    if (this.#balance < 1 || owed > this.#capacity * share) return false;
    this.#owed[place] = owed;
    this.#balance -= 1;
    return true;
  }
}
