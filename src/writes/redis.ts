import { randomUUID } from 'node:crypto';
import { BackendUnavailableError } from '../contract/error.ts';
import { openRedis } from '../redis.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import { type FoundWrite, notStored, type WriteStore } from './remembered-writes.ts';
import { encodeResult } from './result.ts';

/** The longest time that a write waits for the store, in milliseconds. */
const timeoutMs = 1000;

/** How long after its deadline a call may end, in milliseconds. */
const graceMs = 5000;

/**
 * Stores the marker ARGV[1] of a call that ends within ARGV[4] milliseconds, unless something is stored.
 * Returns the time, and what is stored: the fingerprint, the result if there is one, and whether the call
 * carried the key. The result is ARGV[5] if the process of the call has died. It returns only the time after
 * ARGV[6], when nobody waits for it: Redis may have been frozen.
 */
const begin = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now > tonumber(ARGV[6]) then return { now } end
local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'endsAt', 'result', 'carriedKey')
if found[1] then
  if not found[3] and tonumber(found[2]) < now then
    found[3] = ARGV[5]
    -- Redis may be full.
    redis.pcall('HSET', KEYS[1], 'result', ARGV[5])
  end
  return { now, found[1], found[3], found[4] }
end
local endsAt = string.format('%.0f', now + ARGV[4])
redis.call('HSET', KEYS[1], 'marker', ARGV[1], 'fingerprint', ARGV[2], 'carriedKey', ARGV[3], 'endsAt', endsAt)
redis.call('PEXPIRE', KEYS[1], 86400000)
return { now, false }`;

/** Stores the result ARGV[4], also if the marker is lost, or without one forgets that its call began. */
const end = `
local found = redis.call('HMGET', KEYS[1], 'marker', 'result')
local isOwn = found[1] == ARGV[1] or (ARGV[1] == '' and found[2])
if ARGV[4] ~= '' and (isOwn or not (found[1] or found[2])) then
  redis.call('HSET', KEYS[1], 'marker', '', 'fingerprint', ARGV[2], 'carriedKey', ARGV[3], 'result', ARGV[4])
  redis.call('PEXPIRE', KEYS[1], 86400000)
elseif found[1] == ARGV[1] then
  redis.call('DEL', KEYS[1])
end`;

const died = 'The gateway stopped before it had a response.';
/** What a repetition gets if the process of the call has died. */
const lost = encodeResult(new BackendUnavailableError(died));

/** The scripts of the store. */
export const scripts = { begin, end };

/** Opens the store of writes in a Redis server, which gateways share. */
export async function openWriteRedis(
  url: string,
  callTimeoutMs: number,
  { log, metrics }: Reporting,
): Promise<WriteStore> {
  const redis = await openRedis({
    variable: 'IDEMPOTENCY_STORE',
    url,
    scripts,
    timeoutMs,
    onFailure: () => metrics.idempotencyStoreErrors.inc(),
    onChange(err) {
      if (!err) log.info({}, 'the store of writes is in use again');
      else log.warn({ err }, 'the store of writes failed: those with a key are refused');
    },
  });
  return keepWrites(redis, callTimeoutMs);
}

/** Creates the store over the scripts of a Redis server. */
export function keepWrites(
  redis: Pick<Awaited<ReturnType<typeof openRedis>>, 'run' | 'isConnected' | typeof Symbol.dispose>,
  callTimeoutMs: number,
): WriteStore {
  /** The latest marker of each write that this process has stored, or may have. */
  const markers = new Map<string, string>();
  const endsIn = String(callTimeoutMs + graceMs);
  /** The last writes to the store, which it has not confirmed. */
  const pending = new Set<Promise<unknown>>();
  let isClosed = false;
  /** What the clock of Redis adds to `performance.now()`, from its last reply; 0 before, so that it refuses. */
  let clockMs = 0;

  /** Runs `begin`, and once again if Redis had it too late: its clock may have been set. */
  async function ask(isCurrent: () => boolean, ...values: [string, ...string[]]) {
    for (let isLast = false; ; isLast = true) {
      const deadline = Math.ceil(performance.now() + clockMs + timeoutMs);
      const reply = (await redis.run('begin', ...values, String(deadline))) as unknown[];
      clockMs = Number(reply[0]) - performance.now();
      if (reply.length > 1) return reply as string[];
      if (isLast || !isCurrent()) throw new Error('The store had the write too late.');
    }
  }

  /** Stores how a call ended, as soon as Redis takes it. */
  function store(pauseMs: number, ...values: [string, ...string[]]): void {
    const again = () => isClosed || store(Math.min(2 * pauseMs, graceMs), ...values);
    const ended = redis.run('end', ...values).catch(() => void setTimeout(again, pauseMs).unref());
    pending.add(ended);
    void ended.finally(() => pending.delete(ended));
  }

  const keyOf = (name: string) => `petstore:write:${name}`;
  const carried = (write: FoundWrite) => (write?.carriedKey ? '1' : '');

  return {
    async begin(_caller, name, write): Promise<FoundWrite> {
      const marker = randomUUID();
      // Without a connection, nothing is stored.
      if (redis.isConnected()) markers.set(name, marker);
      // Another call may have begun since, or the caller of this one has left.
      const isCurrent = () => markers.get(name) === marker;
      const values = [marker, write.fingerprint, carried(write), endsIn, lost];
      const reply = await ask(isCurrent, keyOf(name), ...values).catch(({ message }) => {
        // Redis has responded that it has stored nothing.
        if (/^[A-Z]+ /.test(message) && isCurrent()) markers.delete(name);
        // Redis has found nothing then, and can't store more.
        const outcome = /(?:^|: -)(?:OOM|MISCONF) /.test(message) ? 'NOT_DONE' : 'UNKNOWN';
        throw notStored('The store of writes with an Idempotency-Key could not be used.', outcome);
      });
      const [, fingerprint, result, carriedKey] = reply;
      if (!fingerprint) return undefined;
      if (isCurrent()) markers.delete(name);
      return { fingerprint, result: result ?? undefined, carriedKey: carriedKey === '1' };
    },
    end(name, write) {
      const { result = '', fingerprint = '' } = write ?? {};
      const values = [markers.get(name) ?? '', fingerprint, carried(write), result];
      if (!markers.delete(name) && write === undefined) return;
      store(500, keyOf(name), ...values);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.all(pending);
      redis[Symbol.dispose]();
    },
  };
}
