import type { ApiKey } from '../keys/api-key.ts';

/** One second, in microseconds. */
const second = 1e6;

/** The bucket of a key, or of its part of the rate that unknown keys share. */
type Bucket = 'rateFullAt' | 'unknownRateFullAt';

/** Limits the rate of each key with a token bucket of one second's worth (generic cell rate algorithm). */
export class Rate {
  /** Tokens per second. A change applies to the next token. */
  perSecond: number;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** Takes tokens, or returns false. A full bucket serves any number; later ones wait for them. */
  take(key: ApiKey, tokens = 1, bucket: Bucket = 'rateFullAt'): boolean {
    const now = Math.floor(performance.now() * 1000);
    // Whole, so that sums of it are exact.
    const interval = Math.floor(second / this.perSecond);
    const fullAt = Math.max(key[bucket], now);
    const next = fullAt + tokens * interval;
    if (next - now > second && fullAt > now) return false;
    key[bucket] = next;
    return true;
  }

  /** Returns the whole tokens that are left to a key, and the seconds until it has all of them. */
  left(key: ApiKey, bucket: Bucket = 'rateFullAt') {
    const used = Math.max(0, key[bucket] - Math.floor(performance.now() * 1000));
    const whole = Math.floor((second - used) / Math.floor(second / this.perSecond));
    const tokens = Math.min(this.perSecond, Math.max(0, whole));
    return { tokens, seconds: Math.ceil(used / second) };
  }
}
