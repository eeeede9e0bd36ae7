/** When a circuit opens, and for how long. */
export interface CircuitLimits {
  /** So many failures in a row open the circuit, ... */
  readonly breakAfterFailures: number;
  /** ... and after this time, in milliseconds, one call may try whether the service is back. */
  readonly halfOpenAfterMs: number;
}

/** What a circuit may have beyond its limits. */
export interface CircuitOptions {
  /** One key counts for at most so many failures of a run. */
  readonly maxPerKey?: number;
  /** Called when the circuit opens, and when it has closed again. */
  readonly onChange?: (state: 'open' | 'closed') => void;
}

/**
 * Refuses calls after a run of failures, until one call has shown that the next will succeed. All
 * times are on the clock of `performance.now()`.
 */
export class Circuit {
  readonly #limits: CircuitLimits;
  readonly #maxPerKey: number;
  readonly #onChange: ((state: 'open' | 'closed') => void) | undefined;
  #failures = 0;
  /** How many of them each key has had; at most as many keys as failures. */
  readonly #failuresByKey = new Map<string, number>();
  #succeededAt = 0;
  #openedAt: number | undefined;
  #isTrying = false;

  constructor(limits: CircuitLimits, options: CircuitOptions = {}) {
    this.#limits = limits;
    this.#maxPerKey = options.maxPerKey ?? limits.breakAfterFailures;
    this.#onChange = options.onChange;
  }

  get state(): 'closed' | 'half-open' | 'open' {
    if (this.#openedAt === undefined) return 'closed';
    return this.#isTrying ? 'half-open' : 'open';
  }

  /** Whether a call must not begin now. */
  refuses(now: number): boolean {
    if (this.#openedAt === undefined) return false;
    return this.#isTrying || now - this.#openedAt < this.#limits.halfOpenAfterMs;
  }

  /** A call begins. Where the circuit is open, it is the one that tries. */
  begin(): void {
    this.#isTrying = this.#openedAt !== undefined;
  }

  /** A call succeeded. */
  succeed(): void {
    this.#succeededAt = performance.now();
    if (this.#openedAt !== undefined) this.#onChange?.('closed');
    this.#openedAt = undefined;
    this.#isTrying = false;
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#failuresByKey.clear();
  }

  /**
   * A call that began at `begunAt` failed, which counts unless another has succeeded since. With a
   * key, it counts as that key's.
   */
  fail(begunAt: number, key?: string): void {
    if (begunAt < this.#succeededAt) return;
    if (this.#openedAt !== undefined) {
      // Calls that began before the circuit opened add nothing to what is known.
      if (begunAt >= this.#openedAt) this.#open();
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

  /** A call that began at `begunAt` ended without proving anything: another one may try. */
  leave(begunAt: number): void {
    if (this.#openedAt !== undefined && begunAt >= this.#openedAt) this.#isTrying = false;
  }

  #open(): void {
    if (this.#openedAt === undefined) this.#onChange?.('open');
    this.#openedAt = performance.now();
    this.#isTrying = false;
  }
}
