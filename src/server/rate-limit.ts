import { Refusal } from '../http/refuse.ts';
import type { ApiKey } from '../limits/api-key.ts';
import type { ApiKeys } from '../limits/api-keys.ts';
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

  /** The fields are those of draft-ietf-httpapi-ratelimit-headers-10. */
  function check(isTaken: boolean, { isAccepted }: ApiKey): void {
    if (isTaken) return;
    const policy = isAccepted ? '"key"' : '"unknown-keys"';
    throw new Refusal(isAccepted ? 'rate_of_key' : 'rate_of_unknown_keys', {
      'ratelimit-policy': `${policy};q=${rate.perSecond};w=1`,
      ratelimit: `${policy};r=0;t=1`,
    });
  }

  return {
    /** The rate of each key, which may change. */
    rate,
    /**
     * Takes calls from the rate of their key. Keys that were never accepted share the rate of requests
     * without one, of which each may use a quarter.
     * @throws Refusal if a rate is exceeded; rejects with it if only all processes together exceed it.
     */
    take(key: ApiKey, calls: number): Promise<unknown> | undefined {
      if (calls === 0) return undefined;
      const limited = key.isAccepted || key === keys.none ? [key] : [key, keys.none];
      if (limited.length > 1) check(rate.take(key, 4 * calls, 'unknownRateFullAt'), key);
      for (const one of limited) check(rate.take(one, calls), key);
      if (store === undefined) return undefined;
      const { take } = store;
      return Promise.all(limited.map(async (one) => check(await take(one.credential, calls), key)));
    },
    [Symbol.dispose]: () => store?.[Symbol.dispose](),
  };
}
