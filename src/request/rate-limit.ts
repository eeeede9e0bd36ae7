import type { HttpResponse } from '../http/http-message.ts';
import { Refusal } from '../http/refusal.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import { Rate } from '../limits/rate.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { RateLimitStore } from './rate-limit-store.ts';

/** Options of `openRateLimit`. */
export interface RateLimitOptions {
  /** REST calls per second of a key; undefined for any number. */
  readonly rateLimitPerKey: number | undefined;
  /** The URL of the Redis server that all processes share; undefined if each limits alone. */
  readonly rateLimitStore: string | undefined;
}

/** The rates of all keys. */
export type RateLimit = NonNullable<Awaited<ReturnType<typeof openRateLimit>>>;

/**
 * Opens the limit of the rate per key; returns undefined if there is none. Each process limits by
 * itself first, so that a flood never reaches the store.
 */
export async function openRateLimit(
  { rateLimitPerKey: perSecond, rateLimitStore: url }: RateLimitOptions,
  keys: ApiKeys,
  telemetry: Telemetry,
) {
  if (perSecond === undefined) return undefined;
  const rate = new Rate(perSecond);
  let store: RateLimitStore | undefined;
  if (url !== undefined) {
    const { openRateLimitStore } = await import('./rate-limit-store.ts');
    store = await openRateLimitStore(url, rate, telemetry);
  }

  function check(isTaken: boolean, { isAccepted }: ApiKey): void {
    if (!isTaken) throw new Refusal(isAccepted ? 'rate_of_key' : 'rate_of_unknown_keys');
  }

  return {
    /** The rate of each key, which may change. */
    rate,
    /**
     * Takes calls from the rate of their key. Keys that were never accepted share one, of which each may
     * use a quarter. Requests without a key make no calls.
     * @throws Refusal if a rate is exceeded; rejects with it if only all processes together exceed it.
     */
    take(key: ApiKey, calls: number): Promise<unknown> | undefined {
      if (calls === 0 || key === keys.none) return undefined;
      const limited = key.isAccepted ? [key] : [key, keys.none];
      if (limited.length > 1) check(rate.take(key, 4 * calls, 'unknownRateFullAt'), key);
      for (const one of limited) check(rate.take(one, calls), key);
      if (store === undefined) return undefined;
      const { take } = store;
      const now = Math.floor(performance.now() * 1000);
      const takeFrom = async (one: ApiKey) => {
        const fullIn = await take(one.credential, calls);
        // From a time before that of the store, so that a key never has less than the store leaves it.
        one.rateFullAt = Math.max(one.rateFullAt, now + Math.abs(fullIn));
        check(fullIn >= 0, key);
      };
      return Promise.all(limited.map(takeFrom));
    },
    /** Adds the rate that limits a key to a response (draft-ietf-httpapi-ratelimit-headers-10). */
    addHeaders(key: ApiKey, headers: HttpResponse['headers']): void {
      const policy = key.isAccepted ? '"key"' : '"unknown-keys"';
      let { tokens, seconds } = rate.left(key.isAccepted ? key : keys.none);
      if (!key.isAccepted && key !== keys.none) {
        const own = rate.left(key, 'unknownRateFullAt');
        tokens = Math.min(tokens, Math.floor(own.tokens / 4));
        seconds = Math.max(seconds, own.seconds);
      }
      headers['ratelimit-policy'] = `${policy};q=${rate.perSecond};w=1`;
      headers['ratelimit'] = `${policy};r=${tokens};t=${seconds}`;
    },
    [Symbol.dispose]: () => store?.[Symbol.dispose](),
  };
}
