import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { coalesceReads } from '../../src/backends/coalesce.ts';
import { CancelledError } from '../../src/contract/error.ts';
import type { PetStore } from '../../src/contract/pet-store.ts';
import type { Pet } from '../../src/contract/records.ts';
import { callWith, openBuiltin } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';

/** Opens a coalescing store whose reads wait until `release` is called. */
async function holdReads() {
  const builtin = await openBuiltin();
  const reads: { key: string; waitingSince: number; release: () => void }[] = [];
  const held: PetStore = {
    ...builtin,
    async listPets(call, query) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waitingSince = call.waitingSince ?? performance.now();
      reads.push({ key: call.apiKey, waitingSince, release: resolve });
      await Promise.race([promise, rejectOnAbort(call.signal)]);
      return builtin.listPets(callWith(), query);
    },
  };
  const petStore = coalesceReads(held, quiet.metrics);
  return { petStore, reads, [Symbol.asyncDispose]: () => builtin[Symbol.asyncDispose]() };
}

/** Rejects when the caller disconnects, like a call to a REST service. */
function rejectOnAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new CancelledError()));
  });
}

const pet = { name: 'Rex', categoryId: '1' };

describe('equal reads in flight', () => {
  it('share one call, and each gets the complete result', async () => {
    await using store = await holdReads();
    const list = () => store.petStore.listPets(callWith('a'), { limit: 2 });
    const results = [list(), list(), list()];
    expect(store.reads).toHaveLength(1);
    store.reads[0]?.release();
    for (const result of results) expect([...(await result)]).toHaveLength(2);
    // A completed call is not joined: the next read makes its own call.
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

  it('are not joined by a read that starts after a write has ended', async () => {
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

  it('are not joined after a failed write, whose outcome may be unknown', async () => {
    await using store = await holdReads();
    const before = store.petStore.listPets(callWith('a'), {});
    await expect(store.petStore.createPet(callWith('wrong-key'), pet)).rejects.toThrow();
    const after = store.petStore.listPets(callWith('a'), {});
    expect(store.reads).toHaveLength(2);
    for (const { release } of store.reads) release();
    await Promise.all([before, after]);
  });

  it('continue for the caller that started them when another caller disconnects', async () => {
    await using store = await holdReads();
    const other = new AbortController();
    const first = store.petStore.listPets(callWith('a'), {});
    const cancelled = store.petStore.listPets(callWith('a', other.signal), {});
    other.abort();
    const joined = store.petStore.listPets(callWith('a', AbortSignal.abort()), {});
    for (const call of [cancelled, joined]) {
      await expect(call).rejects.toBeInstanceOf(CancelledError);
    }
    store.reads[0]?.release();
    expect([...(await first)].length).toBeGreaterThan(0);
    expect(store.reads).toHaveLength(1);
  });

  it('are restarted once for all waiting callers when the caller that started them disconnects', async () => {
    await using store = await holdReads();
    const starter = new AbortController();
    const cancelled = store.petStore.listPets(callWith('a', starter.signal), {});
    const waiting = [1, 2, 3].map(() => store.petStore.listPets(callWith('a'), {}));
    starter.abort();
    await expect(cancelled).rejects.toBeInstanceOf(CancelledError);
    await vi.waitFor(() => expect(store.reads).toHaveLength(2));
    store.reads[1]?.release();
    for (const result of waiting) expect([...(await result)].length).toBeGreaterThan(0);
    expect(store.reads).toHaveLength(2);
  });

  it('are not joined after 100 ms, so that a hanging call affects few callers', async () => {
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
    for (const result of later) expect([...(await result)].length).toBeGreaterThan(0);
    store.reads[0]?.release();
    await Promise.all(hung);
  });

  it('keep the deadline of each caller if the caller that started them disconnects late', async () => {
    await using store = await holdReads();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
    onTestFinished(() => clock.mockRestore());
    const starter = new AbortController();
    const cancelled = store.petStore.listPets(callWith('a', starter.signal), {});
    clock.mockReturnValue(1050);
    const waiting = store.petStore.listPets(callWith('a'), {});
    clock.mockReturnValue(5000);
    starter.abort();
    await expect(cancelled).rejects.toBeInstanceOf(CancelledError);
    expect(store.reads.map((read) => read.waitingSince)).toEqual([1000, 1050]);
    // A new caller does not join a call that is about to time out.
    const fresh = store.petStore.listPets(callWith('a'), {});
    expect(store.reads.map((read) => read.waitingSince)).toEqual([1000, 1050, 5000]);
    for (const { release } of store.reads) release();
    await Promise.all([waiting, fresh]);
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

  it('are not shared with other keys, however many', async () => {
    const { promise: released, resolve } = Promise.withResolvers<readonly Pet[]>();
    const listPets = vi.fn<PetStore['listPets']>(() => released);
    await using petStore = coalesceReads({ ...(await openBuiltin()), listPets }, quiet.metrics);
    const keys = Array.from({ length: 5000 }, (_, index) => `k${index}`);
    const lists = keys.map((key) => petStore.listPets(callWith(key), {}));
    expect(listPets.mock.calls.map(([call]) => call.apiKey)).toEqual(keys);
    resolve([]);
    await Promise.all(lists);
  });
});
