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

/** The interval at which a store that is not used is tested, in milliseconds. */
const testMs = 1000;

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
  /** Takes a request of the rate of a key. Resolves to true if the store fails, within 50 ms. */
  take(key: string): Promise<boolean>;
}

/**
 * Opens the connection to a Redis server, which need not be available. If it has failed for a while,
 * no request waits for it until it has responded in time to a test.
 */
export async function openRateLimitStore(
  url: string,
  perSecond: number,
  { log, metrics }: Telemetry,
): Promise<RateLimitStore> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // A silent server fails between two pings or tests, and the connection is replaced.
    pingInterval: testMs / 2,
    socket: { socketTimeout: testMs * 0.9, reconnectStrategy: testMs },
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
  /** The first failure since the last response in time: it is the cause of the others. */
  let failure: { readonly err: Error; readonly at: number } | undefined;

  /** Records that the store has responded in time, or why it has not. */
  function record(err?: Error): void {
    if (err === undefined) {
      if (!isUp) log.info('the store of rate limits is in use again');
      isUp = true;
      failure = undefined;
      return;
    }
    metrics.rateLimitStoreErrors.inc();
    failure ??= { err, at: performance.now() };
    if (!isUp || performance.now() - failure.at < patienceMs) return;
    isUp = false;
    log.warn({ err: failure.err }, 'the store of rate limits failed: each process limits alone');
  }

  async function ask(key: string): Promise<boolean> {
    const timedOut = Promise.withResolvers<never>();
    const fail = () => timedOut.reject(new Error(`no response within ${timeoutMs} ms`));
    // The response may have arrived during a pause of this process, so it is read first.
    const timer = setTimeout(() => setImmediate(fail), timeoutMs);
    try {
      // Keys are never stored as such.
      const consumed = limiter.consume(hash('sha256', key, 'base64url'));
      await Promise.race([consumed, timedOut.promise]);
      record();
      return true;
    } catch (reason) {
      // If it is no error, it is the state of a rate that is exceeded.
      const isError = reason instanceof Error;
      record(isError ? reason : undefined);
      return isError;
    } finally {
      clearTimeout(timer);
    }
  }

  metrics.watchRateLimitStore(() => isUp);
  const tests = setInterval(() => void (isUp || ask('test')), testMs).unref();
  client.on('error', record);
  client.connect().catch(() => {});
  // Rejects at the first error.
  await once(client, 'ready').catch(() => {});
  return {
    take: (key) => (isUp ? ask(key) : Promise.resolve(true)),
    [Symbol.dispose]() {
      clearInterval(tests);
      client.destroy();
    },
  };
}
