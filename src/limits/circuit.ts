/** What a call counts as in a circuit. */
export type Effect = 'success' | 'failure' | 'none';

/** How many failures in a row open a circuit, and the milliseconds until it lets a probe in. */
export type CircuitLimits = Readonly<Record<'breakAfterFailures' | 'halfOpenAfterMs', number>>;

/** Rejects calls after consecutive failures until a probe succeeds. Times: `performance.now()`. */
export class Circuit {
  readonly #limits: CircuitLimits;
  readonly #onChange: ((state: 'open' | 'closed') => void) | undefined;
  /** The number of failures since the last success. */
  failures = 0;
  /** The failures of each key; there are at most as many keys as failures. */
  readonly #failuresByKey = new Map<object | undefined, number>();
  #succeededAt: number;
  #openedAt: number | undefined;
  #isProbing = false;

  /** @param succeededAt when the last call before has succeeded */
  constructor(
    limits: CircuitLimits,
    onChange?: (state: 'open' | 'closed') => void,
    succeededAt = 0,
  ) {
    this.#limits = limits;
    this.#onChange = onChange;
    this.#succeededAt = succeededAt;
  }

  /** 0 if it is closed, 1 if it is open, and 0.5 while a probe decides. */
  get state(): number {
    if (this.#openedAt === undefined) return 0;
    return this.#isProbing ? 0.5 : 1;
  }

  /** How long no call may start, in milliseconds: 0 if one may now, a second while one is the probe. */
  rejectsForMs(now: number): number {
    if (this.#openedAt === undefined) return 0;
    if (this.#isProbing) return 1000;
    return Math.max(0, Math.ceil(this.#openedAt + this.#limits.halfOpenAfterMs - now));
  }

  /** Counts the start of a call. If the circuit is open, the call is the probe. */
  start(): void {
    this.#isProbing = this.#openedAt !== undefined;
  }

  /**
   * Counts the end of a call that started at `startedAt`. A failure does not count if a call has
   * succeeded since then, or if that of a `key` exceeds `maxPerKey` since the last success.
   */
  end(effect: Effect, startedAt: number, key?: object, maxPerKey = Number.POSITIVE_INFINITY): void {
    if (effect === 'success') {
      this.#succeededAt = performance.now();
      if (this.failures > 0) this.#failuresByKey.clear();
      this.failures = 0;
      if (this.#openedAt !== undefined) this.#onChange?.('closed');
      this.#openedAt = undefined;
      this.#isProbing = false;
    } else if (this.#openedAt !== undefined) {
      // Only a probe can start while the circuit is open; older calls add no information.
      if (startedAt < this.#openedAt) return;
      this.#isProbing = false;
      if (effect === 'failure') this.#openedAt = performance.now();
    } else if (effect === 'failure' && startedAt >= this.#succeededAt) {
      const ofKey = (this.#failuresByKey.get(key) ?? 0) + 1;
      if (ofKey > maxPerKey) return;
      this.#failuresByKey.set(key, ofKey);
      this.failures++;
      if (this.failures < this.#limits.breakAfterFailures) return;
      this.#openedAt = performance.now();
      this.#onChange?.('open');
    }
  }
}
