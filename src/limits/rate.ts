/** One second, in microseconds. */
const second = 1e6;

/**
 * Limits the rate of each key with a token bucket that holds one second's worth (the generic cell
 * rate algorithm), by the hash of the key (`keyOf`). A key needs memory for at most two seconds after
 * its last request.
 */
export class Rate {
  /** Tokens per second. A change applies to the next token. */
  perSecond: number;
  /** When the bucket of each key will be full, by key, and what was in this map a second before. */
  #fullAt = new Map<number, number>();
  #fullAtBefore = this.#fullAt;
  #rotateAt = 0;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** Takes a token of a key. Returns false if there is none. */
  take(key: number): boolean {
    const now = Math.floor(performance.now() * 1000);
    if (now >= this.#rotateAt) {
      this.#fullAtBefore = this.#fullAt;
      this.#fullAt = new Map();
      this.#rotateAt = now + second;
    }
    const fullAt = this.#fullAt.get(key) ?? this.#fullAtBefore.get(key) ?? now;
    // Whole, so that sums of it are exact.
    const interval = Math.floor(second / this.perSecond);
    const next = Math.max(fullAt, now) + interval;
    if (next - now > second) return false;
    this.#fullAt.set(key, next);
    return true;
  }
}
