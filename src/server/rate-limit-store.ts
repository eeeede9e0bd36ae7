import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createClient } from '@redis/client';
import type { RateLimiterRedis as RedisLimiter } from 'rate-limiter-flexible';
// @ts-expect-error: the package has types for its index only, which loads the clients of all stores.
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** The longest time that a request waits for the store, in milliseconds. */
const timeoutMs = 50;

/** How long the store may fail before it is not used, in milliseconds: a short stall is no failure. */
const patienceMs = 200;

/** The interval at which a store that has failed is tried again, in milliseconds. */
const retryMs = 1000;

/** How long the server may be silent before the connection is replaced, in milliseconds. */
const silenceMs = 3000;

/**
 * `Rate.take` in Redis: takes a token from the bucket of a key, which expires when it is full. The
 * result is what `RateLimiterRedis` expects: more than the points if there was none, and the wait.
 */
const takeToken = `
local interval = math.floor(1e6 / ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1e6 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + interval - now
if full > 1e6 then return {ARGV[3] + 1, math.ceil((full - 1e6) / 1000)} end
redis.call('SET', KEYS[1], string.format('%.0f', now + full), 'PX', math.ceil(full / 1000))
return {1, 0}`;

/** The rates of all processes. */
export interface RateLimitStore extends Disposable {
  /** Whether the store is in use. If it is not, each process limits alone. */
  readonly isUp: boolean;
  /** Takes a request of the rate of a key. Resolves to true if the store fails or takes too long. */
  take(key: string): Promise<boolean>;
}

/**
 * Opens the connection to a Redis server. The server need not be available: a store that has failed
 * for a while is not used until it has responded in time to a test, which is sent every second.
 */
export async function openRateLimitStore(
  url: string,
  perSecond: number,
  { log, metrics }: Telemetry,
): Promise<RateLimitStore> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // A ping is only sent after the response to the last one.
    pingInterval: retryMs,
    socket: { socketTimeout: silenceMs, connectTimeout: silenceMs, reconnectStrategy: retryMs },
  });
  const limiter: RedisLimiter = new RateLimiterRedis({
    storeClient: client,
    useRedisPackage: true,
    keyPrefix: 'petstore:rate',
    points: perSecond,
    duration: 1,
    customIncrTtlLuaScript: takeToken,
  });
  let isUp = true;
  let failingSince: number | undefined;

  function fail(err: unknown): void {
    metrics.rateLimitStoreErrors.inc();
    failingSince ??= performance.now();
    if (!isUp || performance.now() - failingSince < patienceMs) return;
    isUp = false;
    log.warn({ err }, 'the store of rate limits failed: each process limits alone');
    setTimeout(test, retryMs).unref();
  }

  /** Tests the store until it responds in time. */
  async function test(): Promise<void> {
    const start = performance.now();
    const error = await limiter.consume('test').catch((reason) => reason);
    isUp = !(error instanceof Error) && performance.now() - start <= timeoutMs;
    if (isUp) {
      failingSince = undefined;
      log.info('the store of rate limits is in use again');
    } else if (client.isOpen) setTimeout(test, retryMs).unref();
  }

  async function take(key: string): Promise<boolean> {
    const timedOut = Promise.withResolvers<never>();
    // The response may have arrived during a pause of this process, so it is read first.
    const timer = setTimeout(
      () => setImmediate(timedOut.reject, new Error(`no response within ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      // Keys are never stored as such.
      const consumed = limiter.consume(hash('sha256', key, 'base64url'));
      await Promise.race([consumed, timedOut.promise]);
      failingSince = undefined;
      return true;
    } catch (error) {
      if (error instanceof Error) {
        fail(error);
        return true;
      }
      // It is the state of the rate, which is exceeded.
      failingSince = undefined;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  metrics.watchRateLimitStore(() => isUp);
  client.on('error', fail);
  client.connect().catch(() => {});
  await Promise.race([once(client, 'ready'), once(client, 'error')]).catch(() => {});
  return {
    get isUp() {
      return isUp;
    },
    take,
    [Symbol.dispose]: () => client.destroy(),
  };
}
