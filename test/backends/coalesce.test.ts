import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { coalesceReads } from '../../src/backends/coalesce.ts';
import { openRestPetStore } from '../../src/backends/rest/pet-store.ts';
import type { PetStore } from '../../src/contract/pet-store.ts';
import { startFaultServer } from '../support/fault-server.ts';
import { callWith, openBuiltin } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';

/** A store whose reads wait until they are let go, behind the coalescing one. */
async function holdReads() {
  const builtin = await openBuiltin();
  const reads: { key: string; release: () => void }[] = [];
  const held: PetStore = {
    ...builtin,
    async listPets(call, query) {
      const { promise, resolve } = Promise.withResolvers<void>();
      reads.push({ key: call.apiKey, release: resolve });
      await Promise.race([promise, leaving(call.signal)]);
      return builtin.listPets(callWith(), query);
    },
  };
  const petStore = coalesceReads(held, quiet.metrics);
  return { petStore, reads, [Symbol.asyncDispose]: () => builtin[Symbol.asyncDispose]() };
}

/** Rejects when the caller leaves, as a call to a REST service does. */
function leaving(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}

const pet = { name: 'Rex', categoryId: '1' };

describe('equal reads in flight', () => {
  it('are one call, and each gets the whole answer', async () => {
    await using store = await holdReads();
    const list = () => store.petStore.listPets(callWith('a'), { limit: 2 });
    const answers = [list(), list(), list()];
    expect(store.reads).toHaveLength(1);
    store.reads[0]?.release();
    for (const answer of answers) expect(await answer).toHaveLength(2);
    // What has landed is not joined: the next read is a call of its own.
    const next = list();
    expect(store.reads).toHaveLength(2);
    store.reads[1]?.release();
    await next;
  });

  it.each([
    ['another key', 'b', { limit: 2 }],
    ['another limit', 'a', { limit: 3 }],
    ['another status', 'a', { limit: 2, status: 'sold' }],
    ['no limit', 'a', {}],
  ] as const)('are not shared with %s', async (_, key, query) => {
    await using store = await holdReads();
    const reads = [
      store.petStore.listPets(callWith('a'), { limit: 2 }),
      store.petStore.listPets(callWith(key), query),
    ];
    expect(store.reads.map((read) => read.key)).toEqual(['a', key]);
    for (const { release } of store.reads) release();
    await Promise.all(reads);
  });

  it('are not joined by one that starts after a write has ended', async () => {
    await using store = await holdReads();
    const before = store.petStore.listPets(callWith('a'), {});
    const write = store.petStore.createPet(callWith(), pet);
    const during = store.petStore.listPets(callWith('a'), {});
    expect(store.reads).toHaveLength(1);
    await write;
    const after = store.petStore.listPets(callWith('a'), {});
    expect(store.reads).toHaveLength(2);
    for (const { release } of store.reads) release();
    expect([...(await after)].some(({ name }) => name === 'Rex')).toBe(true);
    await Promise.all([before, during]);
  });

  it('are not joined after a write that failed either: its outcome may be unknown', async () => {
    await using store = await holdReads();
    const before = store.petStore.listPets(callWith('a'), {});
    await expect(store.petStore.createPet(callWith('wrong-key'), pet)).rejects.toThrow();
    const after = store.petStore.listPets(callWith('a'), {});
    expect(store.reads).toHaveLength(2);
    for (const { release } of store.reads) release();
    await Promise.all([before, after]);
  });

  it('go on for the one who began them when another caller leaves', async () => {
    await using store = await holdReads();
    const leaver = new AbortController();
    const stays = store.petStore.listPets(callWith('a'), {});
    const left = store.petStore.listPets(callWith('a', leaver.signal), {});
    leaver.abort();
    await expect(left).rejects.toBe(leaver.signal.reason);
    store.reads[0]?.release();
    expect([...(await stays)].length).toBeGreaterThan(0);
    expect(store.reads).toHaveLength(1);
  });

  it('begin anew, once, for all who wait when the one who began them leaves', async () => {
    await using store = await holdReads();
    const beginner = new AbortController();
    const left = store.petStore.listPets(callWith('a', beginner.signal), {});
    const stay = [1, 2, 3].map(() => store.petStore.listPets(callWith('a'), {}));
    beginner.abort();
    await expect(left).rejects.toBe(beginner.signal.reason);
    await vi.waitFor(() => expect(store.reads).toHaveLength(2));
    store.reads[1]?.release();
    for (const answer of stay) expect([...(await answer)].length).toBeGreaterThan(0);
    expect(store.reads).toHaveLength(2);
  });

  it('are not joined once they are 100 ms old, so that one that hangs costs few callers', async () => {
    await using store = await holdReads();
    const list = () => store.petStore.listPets(callWith('a'), {});
    const clock = vi.spyOn(performance, 'now');
    onTestFinished(() => clock.mockRestore());
    clock.mockReturnValue(1000);
    const hung = [list()];
    clock.mockReturnValue(1099);
    hung.push(list());
    expect(store.reads).toHaveLength(1);
    clock.mockReturnValue(1100);
    const later = [list()];
    clock.mockReturnValue(1150);
    later.push(list());
    expect(store.reads).toHaveLength(2);
    store.reads[1]?.release();
    for (const answer of later) expect([...(await answer)].length).toBeGreaterThan(0);
    store.reads[0]?.release();
    await Promise.all(hung);
  });

  it('end at the deadline of each caller, also when the one who began them leaves late', async () => {
    await using server = await startFaultServer(() => {});
    await using rest = openRestPetStore(
      {
        baseUrl: new URL(server.url),
        messagesBaseUrl: undefined,
        timeoutMs: 2000,
        limits: { headersTimeoutMs: 60_000 },
      },
      quiet,
    );
    const petStore = coalesceReads(rest, quiet.metrics);
    const beginner = new AbortController();
    const left = petStore.listPets(callWith('a', beginner.signal), {});
    const start = performance.now();
    const stay = petStore.listPets(callWith('a'), {});
    await vi.waitUntil(() => performance.now() - start > 1000, { interval: 5, timeout: 9000 });
    beginner.abort();
    await expect(left).rejects.toBe(beginner.signal.reason);
    await vi.waitFor(() => expect(server.attempts()).toBe(2), { interval: 5 });
    // Who comes now has a whole deadline, and joins no call that is about to end.
    const fresh = petStore.listPets(callWith('a'), {});
    await vi.waitFor(() => expect(server.attempts()).toBe(3), { interval: 5 });
    await expect(stay).rejects.toThrow('did not answer in time');
    expect(performance.now() - start).toBeLessThan(2900);
    await expect(fresh).rejects.toThrow('did not answer in time');
    expect(performance.now() - start).toBeGreaterThan(2900);
  });

  it('fail together', async () => {
    const builtin = await openBuiltin();
    let calls = 0;
    await using petStore = coalesceReads(
      {
        ...builtin,
        async listOrders() {
          calls++;
          throw new Error('down');
        },
      },
      quiet.metrics,
    );
    const reads = [petStore.listOrders(callWith()), petStore.listOrders(callWith())];
    for (const read of reads) await expect(read).rejects.toThrow('down');
    expect(calls).toBe(1);
  });

  it('are bounded: one that finds no place is simply made, and never mixed up', async () => {
    await using store = await holdReads();
    // However slow the machine is, all of them begin at once.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
    onTestFinished(() => clock.mockRestore());
    const keys = Array.from({ length: 5000 }, (_, index) => `k${index}`);
    const list = (key: string) => store.petStore.listPets(callWith(key), {});
    const reads = keys.map(list);
    expect(store.reads.map((read) => read.key)).toEqual(keys);
    // The first has its place still.
    reads.push(list('k0'));
    expect(store.reads).toHaveLength(5000);
    for (const { release } of store.reads) release();
    await Promise.all(reads);
  });
});
