import { Refusal } from '../http/refuse.ts';
import { Rate } from '../limits/rate.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { RateLimitStore } from './rate-limit-store.ts';

/** Options of `openRateLimit`. */
export interface RateLimitOptions {
  /** Requests per second of a key; undefined for any number. */
  readonly rateLimitPerKey: number | undefined;
  /** The URL of the Redis server that all processes share; undefined if each limits alone. */
  readonly rateLimitStore: string | undefined;
}

/** The rates of all keys. */
export interface RateLimit extends Disposable {
  /**
   * Takes a request of the rate of its key. Requests without an accepted key share one rate.
   * @throws Refusal if a rate is exceeded; rejects with it if only all processes together exceed it.
   */
  take(authorization: string | undefined, isAccepted: boolean): Promise<unknown> | undefined;
}

/** The key of the rate that requests without an accepted key share. No API key is empty. */
const unknownKeys = '';

/**
 * Opens the limit of the rate per key; returns undefined if there is none. Each process limits by
 * itself first, so that a flood never reaches the store.
 */
export async function openRateLimit(
  { rateLimitPerKey: perSecond, rateLimitStore: url }: RateLimitOptions,
  telemetry: Telemetry,
): Promise<RateLimit | undefined> {
  if (perSecond === undefined) return undefined;
  const rate = new Rate(perSecond);
  let store: RateLimitStore | undefined;
  if (url !== undefined) {
    const { openRateLimitStore } = await import('./rate-limit-store.ts');
    store = await openRateLimitStore(url, perSecond, telemetry);
  }

  /** The fields are those of draft-ietf-httpapi-ratelimit-headers-10. */
  function check(isTaken: boolean, key: string): void {
    if (isTaken) return;
    const policy = key === unknownKeys ? '"unknown-keys"' : '"key"';
    throw new Refusal(key === unknownKeys ? 'rate_of_unknown_keys' : 'rate_of_key', {
      'ratelimit-policy': `${policy};q=${perSecond};w=1`,
      ratelimit: `${policy};r=0;t=1`,
    });
  }

  return {
    take(authorization = '', isAccepted) {
      // The scheme and the spaces before the key may vary.
      const apiKey = authorization.slice(authorization.lastIndexOf(' ') + 1);
      const keys = isAccepted ? [apiKey] : [...new Set([unknownKeys, apiKey])];
      for (const key of keys) check(rate.take(key), key);
      return store && Promise.all(keys.map(async (key) => check(await store.take(key), key)));
    },
    [Symbol.dispose]: () => store?.[Symbol.dispose](),
  };
}
