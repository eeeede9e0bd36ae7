import type { PetStatus } from '../src/petstore/records.ts';

/** A pet as the REST service sends it. Ids are below 2^53, so that every server returns them. */
export interface RestPet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: PetStatus;
}

const names = ['Biscuit', 'Marmalade', 'Captain Whiskers', 'Pebble', 'Juniper', 'Sir Hops-a-Lot'];
const statuses: readonly PetStatus[] = ['available', 'pending', 'sold'];

/** Creates `count` pets, the same ones at every call, all with `status` if given. */
export function createPets(count: number, status?: PetStatus): readonly RestPet[] {
  return Array.from({ length: count }, (_, index) => ({
    id: 1 + index,
    name: names[index % names.length] as string,
    categoryId: 1 + (index % 7),
    status: status ?? (statuses[index % statuses.length] as PetStatus),
  }));
}

/**
 * The store's orders. Their shape is not published. They are an object because Tailcall and Hive
 * Gateway do not pass an array through.
 */
export const orders = {
  orders: Array.from({ length: 5 }, (_, index) => ({
    id: index + 1,
    petId: index + 3,
    quantity: 1,
    shipDate: '2026-11-02T09:30:00Z',
    status: 'delivered',
  })),
};
