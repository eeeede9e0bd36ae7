import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createClient, defineScript } from '@redis/client';
import type { Rate } from '../limits/rate.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** The longest time that a request waits for the store, in milliseconds. */
const timeoutMs = 50;

/** How long the store may fail before it is not used, in milliseconds: a short stall is no failure. */
const patienceMs = 200;

/** The interval at which a store that is not used is tested, in milliseconds. */
const testMs = 1000;

/**
 * `Rate.take` in Redis, in whose clock the bucket of a key will be full at its value. Returns the
 * microseconds until then, or their negative if there are too few tokens. A bucket expires when it is
 * full. One that would be full after more than a minute counts as full, because the clock was set back.
 */
const takeToken = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
local interval = math.floor(1e6 / ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1e6 + time[2]
local stored = tonumber(redis.call('GET', KEYS[1]) or now)
if stored > now + 6e7 then stored = now end
local full = math.max(stored, now) + ARGV[2] * interval - now
if full > 1e6 and stored > now then return now - stored end
redis.call('SET', KEYS[1], string.format('%.0f', now + full), 'PX', math.ceil(full / 1000))
return full`,
  parseCommand(parser, key: string, perSecond: number, calls: number) {
    parser.pushKey(key);
    parser.push(String(perSecond), String(calls));
  },
  transformReply: (reply: number) => reply,
});

/** The rates of all processes. */
export interface RateLimitStore extends Disposable {
  /**
   * Takes calls from the rate of a key. Resolves to the microseconds until the key has used nothing, or
   * their negative if it is refused; to 0 if the store fails, within 50 ms.
   */
  take(key: string, calls: number): Promise<number>;
}

/**
 * Opens the connection to a Redis server, and waits for it for a second at most. If it has failed for
 * a while, no request waits for it until it has responded in time to a test.
 */
export async function openRateLimitStore(
  url: string,
  rate: Pick<Rate, 'perSecond'>,
  { log, metrics }: Telemetry,
): Promise<RateLimitStore> {
  const client = createClient({
    url,
    scripts: { takeToken },
    disableOfflineQueue: true,
    // A silent server fails between two pings or tests, and the connection is replaced.
    pingInterval: testMs / 2,
    socket: { connectTimeout: testMs, socketTimeout: testMs * 0.9, reconnectStrategy: testMs },
  });
  let isUp = true;
  /** The first failure since the last response in time: it is the cause of the others. */
  let failure: { readonly err: Error; readonly at: number } | undefined;

  /** Records that the store has responded in time, or why it has not. */
  function record(err?: Error): void {
    if (err === undefined) {
      if (!isUp) log.info({}, 'the store of rate limits is in use again');
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

  async function take(key: string, calls: number): Promise<number> {
    const timedOut = Promise.withResolvers<never>();
    const fail = () => timedOut.reject(new Error(`no response within ${timeoutMs} ms`));
    // The response may have arrived during a pause of this process, so it is read first.
    const timer = setTimeout(() => setImmediate(fail), timeoutMs);
    try {
      // Keys are never stored as such.
      const name = `petstore:rate:${hash('sha256', key, 'base64url')}`;
      const fullIn = await Promise.race([
        client.takeToken(name, rate.perSecond, calls),
        timedOut.promise,
      ]);
      record();
      return fullIn;
    } catch (error) {
      record(error as Error);
      return 0;
    } finally {
      clearTimeout(timer);
    }
  }

  metrics.watchRateLimitStore(() => isUp);
  // An API key contains no space.
  const tests = setInterval(() => void (isUp || take('a test', 1)), testMs).unref();
  client.on('error', record);
  client.connect().catch(() => {});
  // Rejects at the first error.
  await once(client, 'ready').catch(() => {});
  return {
    take: (key, calls) => (isUp ? take(key, calls) : Promise.resolve(0)),
    [Symbol.dispose]() {
      clearInterval(tests);
      client.destroy();
    },
  };
}
