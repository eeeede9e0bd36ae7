import { bucketCount } from '../../limits/key.ts';

/** Maximum fraction of a burst for one key. */
const maxKeyFraction = 0.5;

/**
 * Limits retries to a fraction of the calls, so that they do not multiply the load on an overloaded
 * service. A key that exceeds its part gets no retries, and other keys are not affected.
 */
export class RetryBudget {
  readonly #perCall: number;
  readonly #capacity: number;
  /** The retries of each key, minus those that its calls have earned since. */
  readonly #debts = new Float64Array(bucketCount);
  #balance: number;

  /** Allows `perCall` retries per call on average, and up to `capacity` in a burst. */
  constructor(perCall = 0.1, capacity = 10) {
    this.#perCall = perCall;
    this.#capacity = capacity;
    this.#balance = capacity;
  }

  /** Records a call of the key with this bucket. */
  deposit(bucket: number): void {
    this.#balance = Math.min(this.#capacity, this.#balance + this.#perCall);
    const debt = this.#debts[bucket] ?? 0;
    if (debt > 0) this.#debts[bucket] = Math.max(0, debt - this.#perCall);
  }

  /** Takes a retry from the budget; returns false if none is left for the key. */
  withdraw(bucket: number): boolean {
    const debt = (this.#debts[bucket] ?? 0) + 1;
    if (this.#balance < 1 || debt > this.#capacity * maxKeyFraction) return false;
    this.#debts[bucket] = debt;
    this.#balance -= 1;
    return true;
  }
}
