import { once } from 'node:events';
import { type CommandParser, createClient, defineScript, ErrorReply } from '@redis/client';

/** How long a server may fail before it counts as down, in milliseconds: a short stall is no failure. */
const patienceMs = 200;

/** The time for a connection, and before the next one, in milliseconds. */
const retryMs = 1000;

/** The errors of a server that another one has replaced behind its address, or that is not ready, which Redis 6 quotes. */
const isElsewhere = /(?:^|: -)(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN) /;

/** How long a server may refuse nothing before it counts as up again, in milliseconds. */
const calmMs = 10_000;

interface RedisOptions {
  /** The environment variable that has the URL. */
  readonly variable: string;
  readonly url: string;
  /** Lua scripts with one key. */
  readonly scripts: Readonly<Record<string, string>>;
  /** The longest time of a script, in milliseconds. */
  readonly timeoutMs: number;
  readonly onFailure: () => void;
  /** Called with the cause when the server is down, and without one when it is up again. */
  readonly onChange: (cause?: Error) => void;
}

/**
 * Opens the connection to a Redis server that processes share, and waits for it for a second at most.
 * @throws if it is a Redis Cluster or a Sentinel
 */
export async function openRedis(options: RedisOptions) {
  const { variable, timeoutMs, onFailure, onChange } = options;
  let client = connect(options, fail);
  let connectedAt = performance.now();
  let isUp = true;
  /** The first failure since the last response in time: it is the cause of the others. */
  let failure: { readonly cause: Error; readonly at: number } | undefined;
  let refusedAt = Number.NEGATIVE_INFINITY;

  function fail(cause: Error): void {
    const now = performance.now();
    onFailure();
    failure ??= { cause, at: now };
    const isRefusal = cause instanceof ErrorReply;
    if (isRefusal) refusedAt = now;
    // Its address may lead to it for a while longer.
    if (isElsewhere.test(cause.message) && now - connectedAt > retryMs) {
      client.destroy();
      client = connect(options, fail);
      connectedAt = now;
      refusedAt = Number.NEGATIVE_INFINITY;
    }
    if (!isUp || (!isRefusal && now - failure.at < patienceMs)) return;
    isUp = false;
    onChange(failure.cause);
  }

  /** Runs a script. Rejects if it fails, or has no response in time. */
  async function run(script: string, key: string, ...values: string[]): Promise<unknown> {
    const timedOut = Promise.withResolvers<never>();
    const end = () => timedOut.reject(new Error(`no response within ${timeoutMs} ms`));
    // The response may have arrived during a pause of this process, so it is read first.
    const timer = setTimeout(() => setImmediate(end), timeoutMs);
    try {
      const reply = await Promise.race([client[script]?.(key, ...values), timedOut.promise]);
      // A server that is full still runs scripts that write nothing.
      if (performance.now() - refusedAt < calmMs) return reply;
      if (!isUp) onChange();
      isUp = true;
      failure = undefined;
      return reply;
    } catch (error) {
      fail(error as Error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  // Rejects at the first error.
  await once(client, 'ready').catch(() => {});
  // Some users may not ask.
  const { mode = '' } = (client.isReady && (await client.hello().catch(() => undefined))) || {};
  if (/cluster|sentinel/.test(mode)) {
    client.destroy();
    throw new Error(`${variable}: expected one Redis server, found a Redis ${mode}.`);
  }
  /** `isUp`: whether it responds in time, or has failed only for a moment. */
  return {
    isUp: () => isUp,
    isConnected: () => client.isReady,
    run,
    [Symbol.dispose]: () => client.destroy(),
  };
}

function connect({ url, scripts }: RedisOptions, onError: (error: Error) => void) {
  const defined = Object.entries(scripts).map(([name, text]) => [name, define(text)]);
  const client = createClient({
    url,
    scripts: Object.fromEntries(defined) as Record<string, ReturnType<typeof define>>,
    disableOfflineQueue: true,
    // They look up IPv6 addresses by name.
    maintNotifications: 'disabled',
    // A silent server fails between two pings, and the connection is replaced.
    pingInterval: retryMs / 2,
    socket: { connectTimeout: retryMs, socketTimeout: retryMs * 0.9, reconnectStrategy: retryMs },
  });
  client.on('error', onError);
  client.connect().catch(() => {});
  return client;
}

function define(text: string) {
  return defineScript({
    NUMBER_OF_KEYS: 1,
    SCRIPT: text,
    parseCommand(parser: CommandParser, key: string, ...values: string[]) {
      parser.pushKey(key);
      parser.push(...values);
    },
    transformReply: (reply: unknown) => reply,
  });
}
