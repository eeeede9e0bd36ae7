import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openRedis } from '../../src/redis.ts';
import { keepWrites, openWriteRedis } from '../../src/writes/redis.ts';
import type { WriteStore } from '../../src/writes/remembered-writes.ts';
import { added, describeWriteStore, startWrites } from '../backends/describe-write-store.ts';
import { startAddress } from '../support/address.ts';
import { callWith } from '../support/gateway.ts';
import { graphqlRequest, withKey } from '../support/graphql.ts';
import { openTelemetry } from '../support/log.ts';
import { valuesOf } from '../support/metrics.ts';
import { nodeStart } from '../support/process.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { fail, rex } from '../support/writes.ts';

/** Opens a REST service with the pet stores of two gateways, and the Redis that they share. */
async function start(...[respond, more]: Parameters<typeof startWrites>) {
  const redis = await startRedis();
  const service = await startWrites(respond, { IDEMPOTENCY_STORE: redis.url, ...more });
  service.stack.use(redis);
  const gateways = [await service.open(), await service.open()] as const;
  async function stored() {
    const [name = ''] = (await redis.send('KEYS', 'petstore:write:*')) as string[];
    return name;
  }
  const result = async () => redis.send('HGET', await stored(), 'result');
  return {
    ...service,
    gateways,
    redis,
    stored,
    result,
    openAt: (url: string) => service.open({ IDEMPOTENCY_STORE: url }),
    /** Makes a write whose result its gateway can't store before it dies. */
    async lose(idempotencyKey: string) {
      await fail(gateways[0].add(idempotencyKey));
      await vi.waitFor(async () => expect(await stored()).not.toBe(''));
      await vi.waitFor(async () => expect(await result()).toBeTruthy());
      await redis.send('HSET', await stored(), 'endsAt', '1');
      await redis.send('HDEL', await stored(), 'result');
    },
    /** How many scripts Redis has run. */
    async scripts() {
      const stats = String(await redis.send('INFO', 'commandstats'));
      return Number(/evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    },
  };
}

if (!hasRedis) process.stdout.write('Tests with Redis are SKIPPED: install redis-server.\n');

describe.skipIf(!hasRedis)('a write with a key before two gateways with one Redis', () => {
  describeWriteStore('Redis', start);

  it('is unknown at the other if Redis fails while it is waited for there', async () => {
    await using service = await start();
    const [first, second] = service.gateways;
    const made = first.add('k');
    const response = await service.next();
    const all = Array.from({ length: 3 }, () => fail(second.add('k')));
    await vi.waitFor(async () => expect(await service.scripts()).toBeGreaterThan(3));
    await service.redis.kill();
    const error = { name: 'BackendUnavailableError', writeOutcome: 'UNKNOWN' };
    for (const one of await Promise.all(all)) expect(one).toMatchObject(error);
    added(response);
    expect(await made).toMatchObject({ id: '1' });
  });

  it('is looked up by one caller at a time', async () => {
    await using service = await start();
    const [first, second] = service.gateways;
    const made = first.add('k');
    const response = await service.next();
    const all = Array.from({ length: 100 }, () => second.add('k'));
    const others = Array.from({ length: 100 }, () =>
      fail(second.add('k', callWith(), { ...rex, name: 'Tom' })),
    );
    const reused = { name: 'IdempotencyKeyReusedError' };
    for (const error of await Promise.all(others)) expect(error).toMatchObject(reused);
    const before = await service.scripts();
    const isAskedFor = async () => expect(await service.scripts()).toBeGreaterThan(before + 2);
    await vi.waitFor(isAskedFor);
    expect(await service.scripts()).toBeLessThan(50);
    added(response);
    for (const pet of await Promise.all(all)) expect(pet).toEqual(await made);
    expect(service.calls()).toBe(1);
  });

  it('stays unknown if its gateway was killed', async () => {
    await using service = await start();
    const env = { PETSTORE_BASE_URL: `${service.url}/v1`, IDEMPOTENCY_STORE: service.redis.url };
    await using killed = await nodeStart({ ...env, UPSTREAM_TIMEOUT_MS: '1000' });
    const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
    const headers = { ...withKey, 'idempotency-key': 'k' };
    const response = fetch(graphqlRequest(killed.url, { query }, headers)).catch(() => {});
    await service.next();
    process.kill(killed.pid, 'SIGKILL');
    await response;
    // The marker is of a call with another deadline, which is over long before the first repetition.
    const name = await service.stored();
    expect(await service.redis.send('HGET', name, 'result')).toBeNull();
    const [first, second] = service.gateways;
    await service.redis.send('HSET', name, 'endsAt', '1');
    const lost = { name: 'BackendUnavailableError', writeOutcome: 'UNKNOWN' };
    for (const gateway of [first, second, first])
      expect(await fail(gateway.add('k'))).toMatchObject(lost);
    expect(service.calls()).toBe(1);
  });

  it('is repeated once if its gateway was killed and the service honours the header', async () => {
    await using service = await start();
    const on = () => service.open({ UPSTREAM_IDEMPOTENCY: 'pets' });
    const lost = fail((await on()).add('k'));
    const held = await service.next();
    const name = await service.stored();
    await service.redis.send('HSET', name, 'marker', 'of the killed one');
    held.destroy();
    (await service.next()).destroy();
    await lost;
    await service.redis.send('HSET', name, 'endsAt', '1');
    const gateway = await on();
    const repeated = gateway.add('k');
    added(await service.next(), 7);
    expect(await repeated).toMatchObject({ id: '7' });
    for (const one of [gateway, service.gateways[1]])
      expect(await one.add('k')).toEqual(await repeated);
    expect(service.calls()).toBe(3);
  });

  it('stays unknown if its call did not carry the key, also once the setting is on', async () => {
    await using service = await start((response) => void response.destroy());
    const [off] = service.gateways;
    const unknown = { writeOutcome: 'UNKNOWN', isFinal: true };
    expect(await fail(off.add('k'))).toMatchObject(unknown);
    const on = await service.open({ UPSTREAM_IDEMPOTENCY: 'on' });
    await vi.waitFor(async () => expect(await fail(on.add('k'))).toMatchObject(unknown));
    // Of a version that did not store whether it carried the key.
    await service.redis.send('HDEL', await service.stored(), 'carriedKey');
    expect(await fail(on.add('k'))).toMatchObject(unknown);
    expect(service.calls()).toBe(1);
    // Of another gateway, in a rolling deployment: one that carried it is repeated, but not by this one.
    const carried = { writeOutcome: 'UNKNOWN', isFinal: false };
    expect(await fail(on.add('l'))).toMatchObject(carried);
    const calls = service.calls();
    expect(await fail(off.add('l'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(service.calls()).toBe(calls);
  });

  it('is not asked for again and again if Redis has refused it', async () => {
    await using service = await start((response) => added(response));
    const [gateway] = service.gateways;
    await service.redis.send('ACL', 'SETUSER', 'default', 'resetkeys', '~other:*');
    for (let index = 0; index < 20; index++) {
      expect(await fail(gateway.add(`k${index}`))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    }
    await wait(1200);
    const stats = String(await service.redis.send('INFO', 'commandstats'));
    expect(stats).toMatch(/cmdstat_evalsha:.*rejected_calls=20,/);
  });

  it.each([
    ['READONLY You cannot write', 'UNKNOWN'],
    ['OOM command not allowed', 'NOT_DONE'],
  ])('has the outcome of a Redis 6 that refuses it with %s', async (reason, writeOutcome) => {
    await using service = await start();
    // Redis 6 quotes the error of a command in that of its script.
    const quoted = `ERR Error running script (call to f_1): @user_script:15: @user_script: 15: -${reason}.`;
    const script = `return redis.error_reply('${quoted}')`;
    const scripts = { begin: script, end: script };
    const { url } = service.redis;
    const options = { variable: 'IDEMPOTENCY_STORE', url, scripts, timeoutMs: 1000 };
    const redis = await openRedis({ ...options, onFailure() {}, onChange() {} });
    await using store = keepWrites(redis, 1000);
    const connections = () => service.redis.send('INFO', 'stats').then(String);
    const opened = async () => /total_connections_received:(\d+)/.exec(await connections())?.[1];
    await wait(1100);
    const before = Number(await opened());
    const write = { fingerprint: 'f', carriedKey: false };
    expect(await fail(store.begin(callWith(), 'k', write))).toMatchObject({ writeOutcome });
    await wait(100);
    const isReplaced = writeOutcome === 'UNKNOWN';
    expect(Number(await opened()) - before).toBe(isReplaced ? 2 : 1);
  });

  it('is another one before another service', async () => {
    await using service = await start((response) => added(response));
    await using staging = await startUpstream((_, response) => added(response, 2));
    const other = await service.open({ PETSTORE_BASE_URL: `${staging.url}/v1` });
    expect(await service.gateways[0].add('k')).toMatchObject({ id: '1' });
    expect(await other.add('k')).toMatchObject({ id: '2' });
    const same = await service.open({ PETSTORE_BASE_URL: `${service.url}/v1/` });
    expect(await same.add('k')).toMatchObject({ id: '1' });
    expect(await service.redis.send('KEYS', 'petstore:write:*')).toHaveLength(2);
  });

  it('is not sent while Redis cannot be reached, and others are', async () => {
    await using service = await start((response) => added(response));
    const [gateway] = service.gateways;
    await service.redis.kill();
    // An earlier attempt may be done.
    const unknown = { name: 'BackendUnavailableError', writeOutcome: 'UNKNOWN' };
    const refused = { ...unknown, retryAfterMs: 1000 };
    const at = performance.now();
    const all = Array.from({ length: 20 }, () => fail(gateway.add('k')));
    for (const error of await Promise.all(all)) expect(error).toMatchObject(refused);
    // They fail together.
    expect(performance.now() - at).toBeLessThan(8000);
    const unreached = await service.openAt('redis://127.0.0.1:1');
    const again = Array.from({ length: 50 }, () => fail(unreached.add('k')));
    for (const error of await Promise.all(again)) expect(error).toMatchObject(refused);
    const errors = 'petstore_idempotency_store_errors_total';
    const [failures] = Object.values(await valuesOf(unreached.metrics, errors));
    // What was not stored needs no end.
    expect(failures).toBeLessThan(75);
    expect(service.calls()).toBe(0);
    expect(await gateway.add(undefined)).toMatchObject({ id: '1' });
    expect(await valuesOf(gateway.metrics, errors)).not.toEqual({});
    await vi.waitFor(async () => {
      await fail(gateway.add('k'));
      expect(gateway.logged.join()).toContain('the store of writes failed');
    });
    await service.redis.restart();
    await vi.waitFor(async () => expect(await gateway.add('k')).toMatchObject({ id: '1' }));
    expect(service.calls()).toBe(2);
    expect(gateway.lines.join()).toContain('the store of writes is in use again');
  });

  it('has its deadline, and is sent later, while Redis is frozen', async () => {
    await using service = await start((response) => added(response));
    const [gateway] = service.gateways;
    service.redis.freeze();
    const late = callWith();
    late.setDeadline(100);
    const at = performance.now();
    const error = { name: 'BackendTimeoutError', writeOutcome: 'UNKNOWN' };
    expect(await fail(gateway.add('k', late))).toMatchObject(error);
    expect(performance.now() - at).toBeLessThan(900);
    service.redis.thaw();
    await vi.waitFor(async () => expect(await gateway.add('k')).toMatchObject({ id: '1' }));
    expect(service.calls()).toBe(1);
  });

  it('is unknown to a repetition that is late before the first, which may still be sent, is looked up', async () => {
    await using service = await start((response) => added(response));
    const [gateway] = service.gateways;
    service.redis.freeze();
    const first = gateway.add('k');
    const late = callWith();
    late.setDeadline(100);
    const error = { name: 'BackendTimeoutError', writeOutcome: 'UNKNOWN' };
    expect(await fail(gateway.add('k', late))).toMatchObject(error);
    service.redis.thaw();
    expect(await gateway.add('k')).toEqual(await first);
    expect(service.calls()).toBe(1);
  });

  it('succeeds if Redis is down when it ends, and has its result when Redis is back, even if empty', async () => {
    await using service = await start();
    const [first, second] = service.gateways;
    const made = first.add('k');
    const response = await service.next();
    await service.redis.kill();
    added(response);
    const pet = await made;
    await service.redis.restart();
    await vi.waitFor(async () => expect(await service.stored()).not.toBe(''));
    await vi.waitFor(async () => expect(await second.add('k')).toEqual(pet));
    const other = await fail(second.add('k', callWith(), { ...rex, name: 'Tom' }));
    expect(other).toMatchObject({ name: 'IdempotencyKeyReusedError' });
    expect(await service.redis.send('PTTL', await service.stored())).toBeGreaterThan(86_000_000);
    expect(service.calls()).toBe(1);
  });

  it('is a new attempt after Redis has stored that it begins, and the reply was lost', async () => {
    await using service = await start((response) => added(response));
    await using proxy = await startAddress(service.redis.url);
    const gateway = await service.openAt(proxy.url);
    await gateway.add('before');
    const { pass } = proxy;
    proxy.pass = (chunk, client) => {
      if (String(chunk) === '+PONG\r\n') return pass(chunk, client);
      proxy.pass = pass;
      return client.destroy();
    };
    expect(await fail(gateway.add('k'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(await service.redis.send('KEYS', '*')).toHaveLength(2);
    await vi.waitFor(async () => expect(await gateway.add('k')).toMatchObject({ id: '1' }));
    expect(service.calls()).toBe(2);
  });

  it('has its result if an earlier caller has left before Redis replied', async () => {
    await using service = await start();
    await using proxy = await startAddress(service.redis.url);
    const gateway = await service.openAt(proxy.url);
    const [other] = service.gateways;
    // It knows the clock of Redis then.
    const before = gateway.add('before');
    added(await service.next());
    await before;
    await vi.waitFor(async () => expect(await service.result()).toBeTruthy());
    await service.redis.send('FLUSHALL');
    const refused = fail(other.add('k'));
    const response = await service.next();
    // Replies are waited for for a second.
    const soon = { interval: 5 };
    const held: (() => unknown)[] = [];
    const { pass } = proxy;
    proxy.pass = (chunk, client) => held.push(() => pass(chunk, client));
    const client = new AbortController();
    const left = fail(gateway.add('k', callWith(undefined, client.signal)));
    await vi.waitFor(() => expect(held).not.toHaveLength(0), soon);
    client.abort();
    await left;
    sendJson(response, 400, '{}');
    await refused;
    await vi.waitFor(async () => expect(await service.stored()).toBe(''), soon);
    const made = gateway.add('k');
    await vi.waitFor(async () => expect(await service.stored()).not.toBe(''), soon);
    proxy.pass = pass;
    for (const release of held) release();
    added(await service.next());
    const late = callWith();
    late.setDeadline(5000);
    expect(await other.add('k', late)).toEqual(await made);
  });

  it('keeps its newest result if an older one is stored again because the reply was lost', async () => {
    await using redis = await startRedis();
    await using proxy = await startAddress(redis.url);
    await using first = await openWriteRedis(proxy.url, 2000, openTelemetry());
    await using second = await openWriteRedis(redis.url, 2000, openTelemetry());
    const same = { fingerprint: 'same', carriedKey: false };
    const begin = (store: WriteStore, name = 'k') => store.begin(callWith(), name, same);
    const unknown = { ...same, result: '"unknown"' };
    const done = { ...same, result: '"done"' };
    // Redis knows the scripts then.
    await begin(first, 'before');
    first.end('before', done);
    await vi.waitFor(async () => expect(await begin(second, 'before')).toEqual(done));
    expect(await begin(first)).toBeUndefined();
    const { pass } = proxy;
    let isRepeated = false;
    proxy.pass = (_, client) => client.destroy();
    first.end('k', unknown);
    await vi.waitFor(async () => expect(await begin(second)).toEqual(unknown));
    second.end('k', done);
    await vi.waitFor(async () => expect(await begin(second)).toEqual(done));
    proxy.pass = (chunk, client) => {
      isRepeated ||= /^(?:\$-1|_)\r\n/.test(String(chunk));
      return pass(chunk, client);
    };
    await vi.waitFor(() => expect(isRepeated).toBe(true));
    expect(await begin(second)).toEqual(done);
  });

  it('goes to the server that has replaced one behind their address, also if that follows late', async () => {
    await using service = await start((response) => added(response));
    await using proxy = await startAddress(service.redis.url);
    await using next = await startRedis();
    const gateway = await service.openAt(proxy.url);
    const pet = await gateway.add('before');
    await vi.waitFor(async () => expect(await service.result()).toBeTruthy());
    // As a managed Redis does, or a Sentinel: the old one keeps its connections.
    const port = (url: string) => new URL(url).port;
    await next.send('REPLICAOF', '127.0.0.1', port(service.redis.url));
    const replication = async () => String(await next.send('INFO', 'replication'));
    await vi.waitFor(async () => expect(await replication()).toContain('link_status:up'));
    await next.send('REPLICAOF', 'NO', 'ONE');
    await service.redis.send('REPLICAOF', '127.0.0.1', port(next.url));
    const refused = { name: 'BackendUnavailableError', writeOutcome: 'UNKNOWN' };
    expect(await fail(gateway.add('k'))).toMatchObject(refused);
    expect(gateway.logged.join()).toContain('READONLY');
    // It still leads to the old one when the gateway connects again.
    const { connections } = proxy;
    await vi.waitFor(async () => {
      expect(await fail(gateway.add('k'))).toMatchObject(refused);
      expect(proxy.connections).toBeGreaterThan(connections);
    });
    proxy.lead(port(next.url));
    await vi.waitFor(async () => expect(await gateway.add('k')).toMatchObject({ id: '1' }));
    expect(await gateway.add('before')).toEqual(pet);
    expect(service.calls()).toBe(2);
    await vi.waitFor(async () => {
      await gateway.add('k');
      expect(gateway.lines.join()).toContain('the store of writes is in use again');
    });
  });

  it('is not sent while Redis is full, which is logged, and an earlier one stays unknown', async () => {
    await using service = await start((response) => void response.destroy());
    const [gateway] = service.gateways;
    await service.lose('lost');
    await service.redis.send('CONFIG', 'SET', 'maxmemory', '1');
    const refused = { name: 'BackendUnavailableError', writeOutcome: 'NOT_DONE' };
    expect(await fail(gateway.add('k'))).toMatchObject(refused);
    expect(gateway.logged.join()).toContain('OOM');
    // Its process has died, and that can't be stored.
    const message = expect.stringContaining('stopped');
    const lost = { message, writeOutcome: 'UNKNOWN', isFinal: true };
    for (let time = 0; time < 5; time++) {
      expect(await fail(gateway.add('lost'))).toMatchObject(lost);
      expect(await fail(gateway.add('k'))).toMatchObject(refused);
    }
    const failures = gateway.logged.filter((line) => line.includes('the store of writes failed'));
    expect(failures).toHaveLength(1);
    expect(service.calls()).toBe(1);
  });

  it('is sent later if Redis was frozen, and its process has ended since', async () => {
    await using service = await start((response) => added(response));
    await using proxy = await startAddress(service.redis.url);
    const killed = await service.openAt(proxy.url);
    const [other] = service.gateways;
    await killed.add('before');
    await vi.waitFor(async () => expect(await service.result()).toBeTruthy());
    await service.redis.send('FLUSHALL');
    const before = await service.scripts();
    service.redis.freeze();
    // After a ping that has no reply, the connection ends before the write is late, and it is not taken back.
    const { pings } = proxy;
    await vi.waitFor(() => expect(proxy.pings).toBeGreaterThan(pings));
    const sentAt = Date.now();
    expect(await fail(killed.add('k'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    await killed.dispose();
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(sentAt + 1000));
    service.redis.thaw();
    // It now runs what it has received.
    await vi.waitFor(async () => expect(await service.scripts()).not.toBe(before));
    expect(await service.stored()).toBe('');
    expect(await other.add('k')).toMatchObject({ id: '1' });
    expect(service.calls()).toBe(2);
  });

  it('needs one Redis server, not a cluster', async () => {
    await using service = await start();
    await using cluster = await startRedis({ 'cluster-enabled': 'yes' });
    const problem = 'IDEMPOTENCY_STORE: expected one Redis server, found a Redis cluster.';
    await expect(service.openAt(cluster.url)).rejects.toThrow(problem);
  });

  it('is stored under a hash for 24 hours', async () => {
    await using service = await start((response) => added(response));
    const [seconds] = (await service.redis.send('TIME')) as string[];
    await service.gateways[0].add('a secret', callWith('demo-key'));
    const name = await service.stored();
    expect(name).toMatch(/^petstore:write:[\w-]{43}$/);
    expect(String(await service.redis.send('HGETALL', name))).not.toMatch(/demo-key|a secret/);
    // The marker of a call outlives its deadline of ten seconds, for a process that is late to end it.
    const endsAt = Number(await service.redis.send('HGET', name, 'endsAt'));
    expect(endsAt - Number(seconds) * 1000).toBeGreaterThan(14_000);
    const left = Number(await service.redis.send('PTTL', name));
    expect(left).toBeGreaterThan(86_300_000);
    expect(left).toBeLessThanOrEqual(86_400_000);
  });

  it('needs no other permissions than those in docs/production.md', async () => {
    await using service = await start((response) => added(response));
    const gateway = await service.openAt(await service.redis.permit());
    const pet = await gateway.add('k');
    expect(await gateway.add('k')).toEqual(pet);
    await fail(gateway.add('l', callWith('demo-key', AbortSignal.abort())));
    expect(await service.redis.send('ACL', 'LOG')).toEqual([]);
  });
});
