import { describe, expect, it } from 'vitest';
import { ErrorResponse } from '../../src/contract/error.ts';
import type { OperationId, PetStore } from '../../src/petstore/operations.ts';
import type { NewPet } from '../../src/petstore/records.ts';
import { callWith } from '../support/gateway.ts';

/** A backend under test, with the demo data of the built-in backend. */
export interface OpenedPetStore extends AsyncDisposable {
  readonly petStore: PetStore;
}

/** Adds pets concurrently. */
function addMany({ petStore }: OpenedPetStore, count: number, name = 'Rex') {
  const add = () => petStore.createPet(callWith(), { name, categoryId: '1' });
  return Promise.all(Array.from({ length: count }, add));
}

/** Tests the contract, for any `PetStore`. */
export function describePetStore(name: string, open: () => Promise<OpenedPetStore>): void {
  describe(`${name} as a pet store`, () => {
    it('lists pets in the order of their ids', async () => {
      await using opened = await open();
      const pets = [...(await opened.petStore.listPets(callWith(), {}))];
      expect(pets[0]).toEqual({ id: '1', name: 'Biscuit', categoryId: '1', status: 'available' });
      const ids = pets.map(({ id }) => BigInt(id));
      expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    });

    it('returns at most 20 pets by default, otherwise at most the limit', async () => {
      await using opened = await open();
      await addMany(opened, 20);
      const sizeOf = async (limit?: number) =>
        [...(await opened.petStore.listPets(callWith(), limit === undefined ? {} : { limit }))]
          .length;
      expect(await sizeOf()).toBe(20);
      expect(await sizeOf(1)).toBe(1);
      expect(await sizeOf(100)).toBe(32);
    });

    it('lists only pets of a status', async () => {
      await using opened = await open();
      const status = 'sold';
      const pets = [...(await opened.petStore.listPets(callWith(), { status }))];
      expect(pets.length).toBeGreaterThan(0);
      expect(new Set(pets.map((pet) => pet.status))).toEqual(new Set([status]));
      const ids = pets.map(({ id }) => Number(id));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      const [first, ...rest] = await opened.petStore.listPets(callWith(), { status, limit: 1 });
      expect([first, rest]).toEqual([pets[0], []]);
    });

    const complete: Required<NewPet> = {
      name: 'Rex',
      categoryId: '9223372036854775807',
      status: 'pending',
    };
    it.each<NewPet>([
      complete,
      { name: 'größer 🐕 "quoted" \\ </script>', categoryId: '-9223372036854775808' },
      { name: '', categoryId: '0' },
    ])('adds and returns $name with exact digits', async (pet) => {
      await using opened = await open();
      const added = await opened.petStore.createPet(callWith(), pet);
      expect(added).toEqual({ ...pet, id: expect.stringMatching(/^\d+$/) });
      expect(await opened.petStore.getPet(callWith(), added.id)).toEqual(added);
      const pets = [...(await opened.petStore.listPets(callWith(), { limit: 100 }))];
      expect(pets).toContainEqual(added);
    });

    it('assigns unique ids, even to pets that are added concurrently', async () => {
      await using opened = await open();
      const added = await addMany(opened, 50);
      expect(new Set(added.map(({ id }) => id)).size).toBe(50);
    });

    it.each(['404404', '-1'])('returns 404 for the unknown pet %s', async (id) => {
      await using opened = await open();
      const message = `There is no pet with the id ${id}.`;
      const error = ErrorResponse.of({ code: 'pet_not_found', message, status: 404 });
      await expect(opened.petStore.getPet(callWith(), id)).rejects.toEqual(error);
    });

    it('lists orders with exact digits', async () => {
      await using opened = await open();
      const orders = await opened.petStore.listOrders(callWith());
      expect(orders.text).toMatch(/^\[\{"id":9007199254740993,/);
    });

    it('queues a message', async () => {
      await using opened = await open();
      const sent = await opened.petStore.sendMessage(callWith(), 'Hello');
      expect(sent).toMatchObject({ message: 'Hello', status: 'queued' });
      expect(sent.id).not.toBe('');
      expect(Math.abs(Date.parse(sent.createdAt) - Date.now())).toBeLessThan(60_000);
    });

    it('rejects a message that is too long, and accepts one of the maximum length', async () => {
      await using opened = await open();
      const send = (length: number) =>
        opened.petStore.sendMessage(callWith(), '\u0001'.repeat(length));
      await expect(send(10_001)).rejects.toMatchObject({
        status: 400,
        body: { message: 'message: expected at most 10000 characters, received 10001.' },
      });
      expect((await send(10_000)).message).toHaveLength(10_000);
    });

    it('lists a page of the longest names', async () => {
      await using opened = await open();
      // 900 characters that need six bytes each in JSON, and 100 commas inside a string.
      const name = `${'\u0001'.repeat(900)}${','.repeat(100)}`;
      await addMany(opened, 90, name);
      const pets = [...(await opened.petStore.listPets(callWith(), { limit: 100 }))];
      expect(pets.filter((pet) => pet.name === name)).toHaveLength(88);
    });

    it('rejects text that it cannot store unchanged, and stores nothing', async () => {
      await using opened = await open();
      for (const name of ['a\0b', '\ud800', 'x'.repeat(1001)]) {
        const add = opened.petStore.createPet(callWith(), { name, categoryId: '1' });
        await expect(add).rejects.toMatchObject({ status: 400, body: { status: 400 } });
      }
      expect([...(await opened.petStore.listPets(callWith(), { limit: 100 }))]).toHaveLength(12);
    });

    it('returns 401 with an Error body for a wrong key, on every operation', async () => {
      await using opened = await open();
      const call = callWith('wrong-key');
      const { petStore } = opened;
      const operations: Readonly<Record<OperationId, () => Promise<unknown>>> = {
        listPets: () => petStore.listPets(call, {}),
        createPet: () => petStore.createPet(call, { name: 'a', categoryId: '1' }),
        getPet: () => petStore.getPet(call, '1'),
        listOrders: () => petStore.listOrders(call),
        sendMessage: () => petStore.sendMessage(call, 'Hello'),
      };
      for (const operation of Object.values(operations)) {
        await expect(operation()).rejects.toMatchObject({ status: 401, body: { status: 401 } });
      }
      expect([...(await petStore.listPets(callWith(), { limit: 100 }))]).toHaveLength(12);
    });
  });
}
