import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { BackendUnavailableError } from '../contract/error.ts';
import { openRedis } from '../redis.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import { type FoundWrite, notStored, type WriteStore } from './remembered-writes.ts';
import { encodeResult } from './write-result.ts';

/** The longest time that a write waits for the store, in milliseconds. */
const timeoutMs = 1000;

/** How long after its deadline a call may end, in milliseconds. */
const graceMs = 5000;

/**
 * Stores the marker of a call that ends within ARGV[3] milliseconds, unless something is stored. Returns
 * what is: the fingerprint, and the result if there is one. It is ARGV[4] if the process of the call has died.
 */
const begin = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'endsAt', 'result')
if found[1] then
  if not found[3] and tonumber(found[2]) < now then
    found[3] = ARGV[4]
    redis.call('HSET', KEYS[1], 'result', ARGV[4])
  end
  return { found[1], found[3] }
end
local endsAt = string.format('%.0f', now + ARGV[3])
redis.call('HSET', KEYS[1], 'marker', ARGV[1], 'fingerprint', ARGV[2], 'endsAt', endsAt)
redis.call('PEXPIRE', KEYS[1], 86400000)
return false`;

/** Stores the result ARGV[2], also if the marker is lost, or without one forgets that its call began. */
const end = `
local found = redis.call('HMGET', KEYS[1], 'marker', 'result')
local isOwn = found[1] == ARGV[1] or (ARGV[1] == '' and found[2])
if ARGV[2] ~= '' and (isOwn or not (found[1] or found[2])) then
  redis.call('HSET', KEYS[1], 'marker', '', 'fingerprint', ARGV[3], 'result', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], 86400000)
elseif found[1] == ARGV[1] and not found[2] then
  redis.call('DEL', KEYS[1])
end`;

const died = 'The gateway stopped before it had a response.';
/** What a repetition gets if the process of the call has died. */
const lost = encodeResult(new BackendUnavailableError(died));

/** Opens the store of writes in a Redis server, which gateways share. */
export async function openWriteRedis(
  url: string,
  callTimeoutMs: number,
  { log, metrics }: Reporting,
): Promise<WriteStore> {
  const redis = await openRedis({
    url,
    scripts: { begin, end },
    timeoutMs,
    onFailure: () => metrics.idempotencyStoreErrors.inc(),
    onChange(err) {
      if (!err) log.info({}, 'the store of writes is in use again');
      else log.warn({ err }, 'the store of writes failed: those with a key are refused');
    },
  });
  /** The latest marker of each write that this process has stored, or may have. */
  const markers = new Map<string, string>();
  const endsIn = String(callTimeoutMs + graceMs);
  /** The last writes to the store, which it has not confirmed. */
  const pending = new Set<Promise<unknown>>();
  const closing = new AbortController();

  /** Stores how a call ended, also later, until it counts as that of a process that has died. */
  const store = (pauseMs: number, ...values: [string, ...string[]]): Promise<unknown> =>
    redis.run('end', ...values).catch(async (error) => {
      if (pauseMs > callTimeoutMs + graceMs) throw error;
      await wait(pauseMs, undefined, { signal: closing.signal });
      return store(2 * pauseMs, ...values);
    });

  const keyOf = (name: string) => `petstore:write:${name}`;

  return {
    async begin(_caller, name, fingerprint): Promise<FoundWrite> {
      const marker = randomUUID();
      // Without a connection, nothing is stored.
      if (redis.isConnected()) markers.set(name, marker);
      const values = [marker, fingerprint, endsIn, lost];
      const reply = await redis.run('begin', keyOf(name), ...values).catch(() => {
        throw notStored('The store of writes with an Idempotency-Key could not be reached.');
      });
      if (!Array.isArray(reply)) return undefined;
      // Another call may have begun since.
      if (markers.get(name) === marker) markers.delete(name);
      const [stored, result] = reply;
      return { fingerprint: stored, result: result ?? undefined };
    },
    end(name, write) {
      const { result = '', fingerprint = '' } = write ?? {};
      const values = [markers.get(name) ?? '', result, fingerprint];
      if (!markers.delete(name) && write === undefined) return;
      const ended = store(500, keyOf(name), ...values).catch(() => {});
      pending.add(ended);
      void ended.finally(() => pending.delete(ended));
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all(pending);
      redis[Symbol.dispose]();
    },
  };
}
