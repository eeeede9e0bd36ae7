/**
 * Keeps retries a fraction of the calls, so that they can't multiply the load on a service that is
 * going down.
 */
export class RetryBudget {
  readonly #perCall: number;
  readonly #capacity: number;
  #balance: number;

  /** Allows `perCall` retries a call on average, and up to `capacity` in a burst. */
  constructor(perCall = 0.1, capacity = 10) {
    this.#perCall = perCall;
    this.#capacity = capacity;
    this.#balance = capacity;
  }

  /** Notes a call. */
  deposit(): void {
    this.#balance = Math.min(this.#capacity, this.#balance + this.#perCall);
  }

  /** Takes a retry out of the budget; false when there is none left. */
  withdraw(): boolean {
    if (this.#balance < 1) return false;
    this.#balance -= 1;
    return true;
  }
}
