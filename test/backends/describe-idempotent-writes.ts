import { describe, expect, it } from 'vitest';
import { writeKeyOf } from '../../src/contract/idempotency.ts';
import type { NewPet } from '../../src/petstore/records.ts';
import { callWith } from '../support/gateway.ts';
import type { OpenedPetStore } from './describe-pet-store.ts';

const pet: NewPet = { name: 'größer 🐕', categoryId: '9223372036854775807', status: 'sold' };

/** Tests that writes with a key are done once, for any `PetStore` with demo data. */
export function describeIdempotentWrites(name: string, open: () => Promise<OpenedPetStore>): void {
  /** Opens the store with functions that write once per key, and return whether that was replayed. */
  async function openWriter() {
    const { petStore, ...opened } = await open();
    return {
      async add(key: string, value = pet, path = 'addPet', credential?: string) {
        const caller = callWith(credential);
        const write = writeKeyOf({ idempotencyKey: key }, path, 'createPet', value);
        const added = await petStore.createPet(caller, value, write);
        return [added, caller.isReplayed] as const;
      },
      async send(key: string, message: string) {
        const caller = callWith();
        const write = writeKeyOf({ idempotencyKey: key }, 'sendMessage', 'sendMessage', message);
        return [await petStore.sendMessage(caller, message, write), caller.isReplayed] as const;
      },
      count: async () => [...(await petStore.listPets(callWith(), { limit: 100 }))].length - 12,
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  describe(`writes with a key in ${name}`, () => {
    it('are done once, and repetitions resolve to the same record', async () => {
      await using store = await openWriter();
      const [first] = await store.add('a');
      expect(first).toMatchObject(pet);
      const [bare] = await store.add('b', { name: '', categoryId: '0' });
      expect(await store.add('a')).toEqual([first, true]);
      expect(await store.add('b', { name: '', categoryId: '0' })).toEqual([bare, true]);
      expect(await store.count()).toBe(2);
      const [sent] = await store.send('a', 'Hello\n🐕');
      expect(await store.send('a', 'Hello\n🐕')).toEqual([sent, true]);
    });

    it('are refused with other parameters, and nothing is done', async () => {
      await using store = await openWriter();
      const [first] = await store.add('a');
      const reused = { name: 'IdempotencyKeyReusedError', writeOutcome: 'NOT_DONE' };
      await expect(store.add('a', { ...pet, name: 'Rex' })).rejects.toMatchObject(reused);
      await expect(store.add('a', { ...pet, categoryId: '1' })).rejects.toMatchObject(reused);
      expect(await store.count()).toBe(1);
      expect(await store.add('a')).toEqual([first, true]);
    });

    it('are others for another path or another API key', async () => {
      await using store = await openWriter();
      await store.add('a', pet, 'first');
      expect((await store.add('a', { ...pet, name: 'Rex' }, 'second'))[1]).toBe(false);
      expect((await store.add('a', { ...pet, name: 'Max' }, 'first', 'demo-empty'))[1]).toBe(false);
      expect(await store.count()).toBe(3);
    });

    it('are new attempts after one that was refused', async () => {
      await using store = await openWriter();
      const long = { ...pet, name: 'x'.repeat(1001) };
      await expect(store.add('a', long)).rejects.toMatchObject({ status: 400 });
      await expect(store.add('b', pet, 'addPet', 'wrong-key')).rejects.toMatchObject({
        status: 401,
      });
      expect((await store.add('a'))[1]).toBe(false);
      expect((await store.add('b'))[1]).toBe(false);
    });
  });
}
