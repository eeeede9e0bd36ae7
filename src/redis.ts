import { once } from 'node:events';
import { type CommandParser, createClient, defineScript } from '@redis/client';

/** How long a server may fail before it counts as down, in milliseconds: a short stall is no failure. */
const patienceMs = 200;

/** The time for a connection, and before the next one, in milliseconds. */
const retryMs = 1000;

interface RedisOptions {
  readonly url: string;
  /** Lua scripts with one key. */
  readonly scripts: Readonly<Record<string, string>>;
  /** The longest time of a script, in milliseconds. */
  readonly timeoutMs: number;
  readonly onFailure: () => void;
  /** Called with the cause when the server is down, and without one when it is up again. */
  readonly onChange: (cause?: Error) => void;
}

/** Opens the connection to a Redis server that processes share, and waits for it for a second at most. */
export async function openRedis({ url, scripts, timeoutMs, onFailure, onChange }: RedisOptions) {
  const defined = Object.entries(scripts).map(([name, text]) => [name, define(text)]);
  const client = createClient({
    url,
    scripts: Object.fromEntries(defined) as Record<string, ReturnType<typeof define>>,
    disableOfflineQueue: true,
    // A silent server fails between two pings, and the connection is replaced.
    pingInterval: retryMs / 2,
    socket: { connectTimeout: retryMs, socketTimeout: retryMs * 0.9, reconnectStrategy: retryMs },
  });
  let isUp = true;
  /** The first failure since the last response in time: it is the cause of the others. */
  let failure: { readonly cause: Error; readonly at: number } | undefined;

  function fail(cause: Error): void {
    onFailure();
    failure ??= { cause, at: performance.now() };
    if (!isUp || performance.now() - failure.at < patienceMs) return;
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

  client.on('error', fail);
  client.connect().catch(() => {});
  // Rejects at the first error.
  await once(client, 'ready').catch(() => {});
  /** `isUp`: whether it responds in time, or has failed only for a moment. */
  return {
    isUp: () => isUp,
    isConnected: () => client.isReady,
    run,
    [Symbol.dispose]: () => client.destroy(),
  };
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
