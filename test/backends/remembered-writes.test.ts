import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { BackendTimeoutError, InvalidResponseError } from '../../src/contract/error.ts';
import { contract } from '../../src/petstore/operations.ts';
import { openWriteMemory } from '../../src/writes/memory.ts';
import { keepWrites } from '../../src/writes/redis.ts';
import { notStored, rememberWrites, type WriteStore } from '../../src/writes/remembered-writes.ts';
import { decodeResult, encodeResult, outcomeOf } from '../../src/writes/result.ts';
import { owning } from '../support/dispose.ts';
import { callWith } from '../support/gateway.ts';
import { openTelemetry } from '../support/log.ts';
import { valuesOf } from '../support/metrics.ts';
import { openMountable, openRest } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { addPet, fail, forgetful } from '../support/writes.ts';
import { added, describeWriteStore, startWrites } from './describe-write-store.ts';

/** Opens a REST service and the pet store of a gateway before it. */
async function start(...[respond, env]: Parameters<typeof startWrites>) {
  const service = await startWrites(respond, env);
  const gateway = await service.open();
  return { ...gateway, ...service, gateways: [gateway, gateway] as const };
}

describeWriteStore('the memory of a process', start);

describe('a write with a key', () => {
  it.each([
    ['stays unknown, and says so at every attempt', 'off', false],
    ['may still become known if the service honours the key', 'on', undefined],
  ])('%s', async (_, setting, retryable) => {
    const env = { UPSTREAM_IDEMPOTENCY: setting };
    await using opened = await openMountable((_, response) => void response.destroy(), env);
    const document = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
    const caller = { authorization: 'Bearer k', idempotencyKey: 'k' };
    for (let attempt = 1; attempt <= 2; attempt++) {
      const { errors } = await opened.gateway.execute(document, {}, caller);
      expect(errors?.[0]?.extensions).toMatchObject({ outcome: 'UNKNOWN' });
      expect(errors?.[0]?.extensions['retryable']).toBe(retryable);
    }
  });

  it('is unknown after an error that nobody foresaw', () => {
    expect(outcomeOf(new TypeError('No.'))).toBe('UNKNOWN');
    expect(outcomeOf({ id: '1' })).toBe('DONE');
  });

  it('has an error of the same class, whatever a bundler calls that', () => {
    for (const type of [BackendTimeoutError, InvalidResponseError]) {
      class Renamed extends type {}
      const error = new Renamed('No.', { writeOutcome: 'UNKNOWN' });
      expect(decodeResult(encodeResult(error))).toBeInstanceOf(type);
    }
  });

  it('is known as done if its result is too large to be kept', async () => {
    const large = `{"id":1,"name":"${'x'.repeat(600_000)}","categoryId":1}`;
    await using service = await start((response) => sendJson(response, 201, large));
    await service.add('k');
    const message = 'The response to the write was too large to be kept.';
    expect(await fail(service.add('k'))).toMatchObject({ message, writeOutcome: 'DONE' });
    expect(service.calls()).toBe(1);
  });

  it('is kept if it ends while the gateway shuts down', async () => {
    const held: ServerResponse[] = [];
    await using upstream = await startUpstream((_, response) => held.push(response));
    const events: string[] = [];
    const store: WriteStore = {
      begin: () => undefined,
      end: () => void events.push('kept'),
      [Symbol.asyncDispose]: async () => void events.push('closed'),
    };
    const petStore = rememberWrites(contract, openRest(upstream.url), store, forgetful);
    const made = addPet(petStore, 'k');
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const disposed = petStore[Symbol.asyncDispose]();
    added(held[0] as ServerResponse);
    await Promise.all([made, disposed]);
    expect(events).toEqual(['kept', 'closed']);
  });

  it('is a new attempt if it was not sent', async () => {
    await using service = await start((response) => added(response));
    const left = callWith(undefined, AbortSignal.abort());
    expect(await fail(service.add('k', left))).toMatchObject({ writeOutcome: 'NOT_DONE' });
    expect(await service.add('k')).toMatchObject({ id: '1' });
    await fail(service.add('k', left));
    expect(await service.add('k')).toMatchObject({ id: '1' });
    expect(service.calls()).toBe(1);
  });

  it('is refused once for all that wait for it', async () => {
    await using service = await start();
    const callers = Array.from({ length: 20 }, () => callWith());
    const all = callers.map((caller) => fail(service.add('k', caller)));
    sendJson(await service.next(), 400, '{"code":"x","message":"No.","status":400}');
    for (const error of await Promise.all(all)) {
      expect(error).toMatchObject({ status: 400, message: 'No.', writeOutcome: 'NOT_DONE' });
    }
    expect(service.calls()).toBe(1);
    // Nothing was done before.
    expect(callers.filter(({ isReplayed }) => isReplayed)).toEqual([]);
    const later = service.add('k');
    added(await service.next());
    expect(await later).toMatchObject({ id: '1' });
  });

  it('is not done if it was not elsewhere, and neither here when the store fails', async () => {
    const found = [{}, undefined];
    const store: WriteStore = {
      begin(_caller, _name, write) {
        if (found.length === 0) return Promise.reject(notStored('No store.'));
        const next = found.shift();
        return next && { ...next, ...write };
      },
      end() {},
      async [Symbol.asyncDispose]() {},
    };
    const { promise: isBegun, resolve } = Promise.withResolvers<void>();
    const rest = openRest('http://127.0.0.1:1');
    const createPet: typeof rest.createPet = (...call) => {
      resolve();
      return rest.createPet(...call);
    };
    await using petStore = rememberWrites(contract, { ...rest, createPet }, store, forgetful);
    const add = () => fail(addPet(petStore, 'k'));
    const [first, second] = [add(), add()];
    await isBegun;
    for (const made of [first, second, add()]) {
      expect(await made).toMatchObject({ writeOutcome: 'NOT_DONE' });
    }
  });

  it('has no result for an API key that the service refuses, until it accepts it again', async () => {
    const broken = (response: ServerResponse) => sendJson(response, 200, '{}');
    const list = (response: ServerResponse) => sendJson(response, 200, '[]');
    const refusal = '{"code":"key","message":"No.","status":401}';
    const refuse = (response: ServerResponse) => sendJson(response, 401, refusal);
    const respond = [added, refuse, refuse, broken, list, refuse];
    await using service = await start((response) => respond.shift()?.(response));
    const first = await service.add('k');
    await fail(service.petStore.listPets(callWith(), {}));
    const again = callWith();
    // The first call may have been done.
    const refused = { name: 'ErrorResponse', status: 401, writeOutcome: 'UNKNOWN' };
    expect(await fail(service.add('k', again))).toMatchObject(refused);
    // A success proves that the key is accepted, even if it breaks the contract.
    for (let times = 0; times < 3; times++) expect(await service.add('k')).toEqual(first);
    await fail(service.petStore.listPets(callWith(), {}));
    const client = new AbortController();
    const left = fail(service.add('k', callWith(undefined, client.signal)));
    await vi.waitFor(() => expect(service.calls()).toBe(7));
    client.abort();
    expect(await left).toMatchObject({ name: 'CancelledError' });
    expect(service.methods()).toEqual(['POST', ...Array(6).fill('GET')]);
  });

  it('that waits for a connection is made for those who have not left', async () => {
    await using service = await start();
    // The most calls of one key in flight.
    const busy = Array.from({ length: 64 }, (_, index) => service.add(`busy-${index}`));
    await vi.waitFor(() => expect(service.held).toHaveLength(64));
    const client = new AbortController();
    const first = fail(service.add('k', callWith(undefined, client.signal)));
    const late = callWith();
    const second = fail(service.add('k', late));
    const third = service.add('k');
    // Those who joined have found it.
    await new Promise(setImmediate);
    client.abort();
    late.cancel('deadline');
    // Its call was not sent, but the others may still do it.
    expect(await first).toMatchObject({ writeOutcome: 'NOT_DONE' });
    expect(await second).toMatchObject({ writeOutcome: 'UNKNOWN' });
    for (let sent = 0; sent < 65; sent++) added(await service.next());
    expect(await third).toMatchObject({ id: '1' });
    await Promise.all(busy);
    expect(service.calls()).toBe(65);
  });
});

describe('the memory for writes', () => {
  const KiB = 1024;
  const unknown = (response: ServerResponse) => sendJson(response, 500, '{}');

  /** Opens a memory of this size before a service that refuses nothing. */
  async function startSmall(total: number) {
    const upstream = await startUpstream(({ headers }, response) =>
      headers.authorization === 'Bearer accepted' ? added(response) : unknown(response),
    );
    const telemetry = openTelemetry();
    const rest = openRest(upstream.url, { limits: { breakAfterFailures: 1e9 } }, telemetry);
    const memory = openWriteMemory(rest.keys, telemetry.metrics, total);
    const petStore = rememberWrites(contract, rest, memory, forgetful);
    const used = async () =>
      (await valuesOf(telemetry.metrics, 'petstore_limit_used', 'limit'))['idempotency_bytes'] ?? 0;
    return {
      used,
      calls: () => upstream.seen.length,
      forgotten: async () =>
        (await valuesOf(telemetry.metrics, 'petstore_idempotency_evictions_total'))[''] ?? 0,
      add: (key: string, idempotencyKey: string) =>
        addPet(petStore, idempotencyKey, callWith(key, undefined, rest.keys)),
      ...owning(petStore, upstream),
    };
  }

  it.each<[string, (index: number) => [string, string], number]>([
    ['keys', (index) => [`unknown-${index}`, 'k'], 64 * KiB],
    ['idempotency keys', (index) => ['unknown', `${index}`], 32 * KiB],
  ])('is bounded for a client that was never accepted and sends many %s', async (_, name, most) => {
    await using service = await startSmall(128 * KiB);
    const pet = await service.add('accepted', 'mine');
    const own = await service.used();
    for (let index = 0; index < 500; index += 10) {
      const some = Array.from({ length: 10 }, (_, offset) => service.add(...name(index + offset)));
      await Promise.all(some.map(fail));
      expect(await service.used()).toBeLessThanOrEqual(most + own);
    }
    expect(await service.forgotten()).toBeGreaterThan(300);
    const calls = service.calls();
    expect(await service.add('accepted', 'mine')).toEqual(pet);
    // The latest are still there.
    await fail(service.add(...name(499)));
    expect(service.calls()).toBe(calls);
    await fail(service.add(...name(0)));
    expect(service.calls()).toBe(calls + 1);
  });

  it('has a quarter for each accepted key', async () => {
    await using service = await startSmall(128 * KiB);
    for (let index = 0; index < 60; index++) await service.add('accepted', `${index}`);
    expect(await service.used()).toBeLessThanOrEqual(32 * KiB);
    expect(await service.used()).toBeGreaterThan(24 * KiB);
  });

  it('refuses a write if those in flight leave no room, and makes no call', async () => {
    await using service = await startSmall(2 * KiB);
    const all = await Promise.allSettled(['a', 'b'].map((one) => service.add('accepted', one)));
    const reason = { writeOutcome: 'NOT_DONE', retryAfterMs: 1000 };
    expect(all).toMatchObject([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    expect(service.calls()).toBe(0);
  });

  it('forgets a write after 24 hours', async () => {
    await using service = await startSmall(128 * KiB);
    await service.add('accepted', 'k');
    const now = performance.now();
    const later = now + 24 * 3_600_000 + 1000;
    using clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
    await service.add('accepted', 'k');
    clock.mockRestore();
    expect(service.calls()).toBe(2);
  });
});

it('closes the connection to Redis once it has confirmed the results of all writes', async () => {
  const events: string[] = [];
  const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
  const store = keepWrites(
    {
      isConnected: () => true,
      async run(script) {
        if (script === 'begin') return [Date.now(), false];
        await confirmed;
        return events.push('stored');
      },
      [Symbol.dispose]: () => void events.push('closed'),
    },
    1000,
  );
  const write = { fingerprint: 'f', carriedKey: false };
  await store.begin(callWith(), 'one', write);
  store.end('one', { ...write, result: '{}' });
  const disposed = store[Symbol.asyncDispose]();
  confirm();
  await disposed;
  expect(events).toEqual(['stored', 'closed']);
});
