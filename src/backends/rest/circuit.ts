/** When a circuit opens, and how long it stays open. */
export interface CircuitLimits {
  /** The number of consecutive failures that opens the circuit. */
  readonly breakAfterFailures: number;
  /** How long an open circuit rejects calls before it lets one probe through, in milliseconds. */
  readonly halfOpenAfterMs: number;
}

/** Options of `Circuit`. */
export interface CircuitOptions {
  /** Maximum number of failures of one key that count in a row. */
  readonly maxPerKey?: number;
  /** Called when the circuit opens and when it closes. */
  readonly onChange?: (state: 'open' | 'closed') => void;
}

/**
 * A circuit breaker: rejects calls after several consecutive failures until a probe succeeds. All
 * times are `performance.now()` timestamps.
 */
export class Circuit {
  readonly #limits: CircuitLimits;
  readonly #maxPerKey: number;
  readonly #onChange: ((state: 'open' | 'closed') => void) | undefined;
  #failures = 0;
  /** The failures of each key; there are at most as many keys as failures. */
  readonly #failuresByKey = new Map<string, number>();
  #succeededAt = 0;
  #openedAt: number | undefined;
  #isProbing = false;

  constructor(limits: CircuitLimits, options: CircuitOptions = {}) {
    this.#limits = limits;
    this.#maxPerKey = options.maxPerKey ?? limits.breakAfterFailures;
    this.#onChange = options.onChange;
  }

  get state(): 'closed' | 'half-open' | 'open' {
    if (this.#openedAt === undefined) return 'closed';
    return this.#isProbing ? 'half-open' : 'open';
  }

  /** Whether a call must not start now. */
  rejects(now: number): boolean {
    if (this.#openedAt === undefined) return false;
    return this.#isProbing || now - this.#openedAt < this.#limits.halfOpenAfterMs;
  }

  /** Records the start of a call. If the circuit is open, the call is the probe. */
  start(): void {
    this.#isProbing = this.#openedAt !== undefined;
  }

  /** Records a successful call and closes the circuit. */
  succeed(): void {
    this.#succeededAt = performance.now();
    if (this.#openedAt !== undefined) this.#onChange?.('closed');
    this.#openedAt = undefined;
    this.#isProbing = false;
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#failuresByKey.clear();
  }

  /**
   * Records a failed call that started at `startedAt`. It does not count if a call has succeeded
   * since then, or if `key` has reached its maximum.
   */
  fail(startedAt: number, key?: string): void {
    if (startedAt < this.#succeededAt) return;
    if (this.#openedAt !== undefined) {
      // Only a probe can start while the circuit is open; older calls add no information.
      if (startedAt >= this.#openedAt) this.#open();
      return;
    }
    if (key !== undefined) {
      const failures = (this.#failuresByKey.get(key) ?? 0) + 1;
      if (failures > this.#maxPerKey) return;
      this.#failuresByKey.set(key, failures);
    }
    this.#failures++;
    if (this.#failures >= this.#limits.breakAfterFailures) this.#open();
  }

  /** Records a call without a conclusive result, such as a cancelled one. Allows another probe. */
  abandon(startedAt: number): void {
    if (this.#openedAt !== undefined && startedAt >= this.#openedAt) this.#isProbing = false;
  }

  #open(): void {
    if (this.#openedAt === undefined) this.#onChange?.('open');
    this.#openedAt = performance.now();
    this.#isProbing = false;
  }
}
