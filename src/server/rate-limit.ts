import { Refusal } from '../http/refuse.ts';
import { keyOf } from '../limits/key.ts';
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
export type RateLimit = NonNullable<Awaited<ReturnType<typeof openRateLimit>>>;

/** The key of the rate that requests without an accepted key share: that of requests without one. */
const unknownKeys = keyOf(undefined);

/**
 * Opens the limit of the rate per key; returns undefined if there is none. Each process limits by
 * itself first, so that a flood never reaches the store.
 */
export async function openRateLimit(
  { rateLimitPerKey: perSecond, rateLimitStore: url }: RateLimitOptions,
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
  function check(isTaken: boolean, key: number): void {
    if (isTaken) return;
    const policy = key === unknownKeys ? '"unknown-keys"' : '"key"';
    throw new Refusal(key === unknownKeys ? 'rate_of_unknown_keys' : 'rate_of_key', {
      'ratelimit-policy': `${policy};q=${rate.perSecond};w=1`,
      ratelimit: `${policy};r=0;t=1`,
    });
  }

  return {
    /** The rate of each key, which may change. */
    rate,
    /**
     * Takes a request of the rate of its key. Requests without an accepted key share one rate.
     * @throws Refusal if a rate is exceeded; rejects with it if only all processes together exceed it.
     */
    take(key: number, authorization = '', isAccepted: boolean): Promise<unknown> | undefined {
      const keys = isAccepted || key === unknownKeys ? [key] : [unknownKeys, key];
      for (const one of keys) check(rate.take(one), one);
      if (store === undefined) return undefined;
      const { take } = store;
      const apiKey = authorization.slice(authorization.lastIndexOf(' ') + 1);
      const named = (one: number) => (one === unknownKeys ? '' : apiKey);
      return Promise.all(keys.map(async (one) => check(await take(named(one)), one)));
    },
    [Symbol.dispose]: () => store?.[Symbol.dispose](),
  };
}
