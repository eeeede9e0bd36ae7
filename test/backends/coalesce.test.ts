import { describe, expect, it } from 'vitest';
import { coalesceReads } from '../../src/backends/coalesce.ts';
import type { PetStore } from '../../src/contract/pet-store.ts';
import { callWith, openBuiltin } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';

/** A store whose reads wait until they are let go, behind the coalescing one. */
async function holdReads() {
  const builtin = await openBuiltin();
  const reads: { key: string; signal: AbortSignal | undefined; release: () => void }[] = [];
  const held: PetStore = {
    ...builtin,
    async listPets(call, query) {
      const { promise, resolve } = Promise.withResolvers<void>();
      reads.push({ key: call.apiKey, signal: call.signal, release: resolve });
      await promise;
      return builtin.listPets(callWith(), query);
    },
  };
  const petStore = coalesceReads(held, quiet.metrics);
  return { petStore, reads, [Symbol.asyncDispose]: () => builtin[Symbol.asyncDispose]() };
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
    expect((await after).some(({ name }) => name === 'Rex')).toBe(true);
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

  it('go on for the others when one caller leaves', async () => {
    await using store = await holdReads();
    const leaver = new AbortController();
    const left = store.petStore.listPets(callWith('a', leaver.signal), {});
    const stays = store.petStore.listPets(callWith('a'), {});
    leaver.abort();
    await expect(left).rejects.toBe(leaver.signal.reason);
    expect(store.reads[0]?.signal?.aborted).toBe(false);
    store.reads[0]?.release();
    expect((await stays).length).toBeGreaterThan(0);
  });

  it('end when the last caller leaves, and are not joined any more', async () => {
    await using store = await holdReads();
    const callers = [new AbortController(), new AbortController()];
    const reads = callers.map(({ signal }) => store.petStore.listPets(callWith('a', signal), {}));
    const left = Promise.allSettled(reads);
    for (const caller of callers) caller.abort();
    await left;
    expect(store.reads[0]?.signal?.aborted).toBe(true);
    const next = store.petStore.listPets(callWith('a'), {});
    expect(store.reads).toHaveLength(2);
    for (const { release } of store.reads) release();
    await next;
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

  it('are bounded: beyond a thousand, a read is simply made', async () => {
    await using store = await holdReads();
    const list = (key: string) => store.petStore.listPets(callWith(key), {});
    const reads = Array.from({ length: 1000 }, (_, index) => list(`k${index}`));
    reads.push(list('one-more'), list('one-more'), list('k1'));
    expect(store.reads).toHaveLength(1002);
    for (const { release } of store.reads) release();
    await Promise.all(reads);
  });
});
