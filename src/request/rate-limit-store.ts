import { hash } from 'node:crypto';
import type { Rate } from '../limits/rate.ts';
import { openRedis } from '../redis.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** The longest time that a request waits for the store, in milliseconds. */
const timeoutMs = 50;

/** The interval at which a store that is not used is tested, in milliseconds. */
const testMs = 1000;

/**
 * `Rate.take` in Redis, in whose clock the bucket of a key will be full at its value. Returns the
 * microseconds until then, or their negative if there are too few tokens. A bucket expires when it is
 * full. One that would be full after more than a minute counts as full, because the clock was set back.
 */
const takeToken = `
local interval = math.floor(1e6 / ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1e6 + time[2]
local stored = tonumber(redis.call('GET', KEYS[1]) or now)
if stored > now + 6e7 then stored = now end
local full = math.max(stored, now) + ARGV[2] * interval - now
if full > 1e6 and stored > now then return now - stored end
redis.call('SET', KEYS[1], string.format('%.0f', now + full), 'PX', math.ceil(full / 1000))
return full`;

/** The rates of all processes. */
export type RateLimitStore = Awaited<ReturnType<typeof openRateLimitStore>>;

/**
 * Opens the store in a Redis server. If it has failed for a while, no request waits for it until it has
 * responded in time to a test.
 */
export async function openRateLimitStore(
  url: string,
  rate: Pick<Rate, 'perSecond'>,
  { log, metrics }: Telemetry,
) {
  const redis = await openRedis({
    variable: 'RATE_LIMIT_STORE',
    url,
    scripts: { takeToken },
    timeoutMs,
    onFailure: () => metrics.rateLimitStoreErrors.inc(),
    onChange(err) {
      if (!err) log.info({}, 'the store of rate limits is in use again');
      else log.warn({ err }, 'the store of rate limits failed: each process limits alone');
    },
  });

  async function take(key: string, calls: number): Promise<number> {
    // Keys are never stored as such.
    const name = `petstore:rate:${hash('sha256', key, 'base64url')}`;
    const fullIn = redis.run('takeToken', name, String(rate.perSecond), String(calls));
    return fullIn.then(Number, () => 0);
  }

  metrics.watchRateLimitStore(redis.isUp);
  // An API key contains no space.
  const tests = setInterval(() => void (redis.isUp() || take('a test', 1)), testMs).unref();
  return {
    /**
     * Takes calls from the rate of a key. Resolves to the microseconds until the key has used nothing, or
     * their negative if it is refused; to 0 if the store fails, within 50 ms.
     */
    take: (key: string, calls: number) => (redis.isUp() ? take(key, calls) : Promise.resolve(0)),
    [Symbol.dispose]() {
      clearInterval(tests);
      redis[Symbol.dispose]();
    },
  };
}
