import type { DemoKey } from '../../backends/builtin/demo-keys.ts';
import type { PetStatus } from '../records.ts';
import type { Database } from './tables.ts';

const pets: readonly [name: string, categoryId: bigint, status: PetStatus | null][] = [
  ['Biscuit', 1n, 'available'],
  ['Marmalade', 2n, 'available'],
  ['Captain Whiskers', 2n, 'pending'],
  ['Pebble', 3n, 'sold'],
  ['Juniper', 1n, 'available'],
  ['Noodle', 4n, 'available'],
  ['Sir Hops-a-Lot', 3n, 'pending'],
  ['Waffles', 1n, 'sold'],
  ['Olive', 5n, 'available'],
  ['Professor Quill', 5n, 'available'],
  ['Mochi', 2n, null],
  // The category id is beyond 2^53, which reveals clients that round.
  ['Tardigrade', 9_007_199_254_740_993n, 'available'],
];

const orders = [
  '{"id":9007199254740993,"petId":4,"quantity":1,"shipDate":"2026-11-02T09:30:00Z","status":"delivered"}',
  '{"id":9007199254740994,"petId":8,"quantity":1,"shipDate":"2026-11-18T14:00:00Z","status":"approved"}',
];

/** Adds a dozen pets and two orders. */
export async function insertDemoData(transaction: Database): Promise<void> {
  await transaction
    .insertInto('pets')
    .values(pets.map(([name, category_id, status]) => ({ name, category_id, status })))
    .execute();
  await transaction
    .insertInto('orders')
    .values(orders.map((document) => ({ document })))
    .execute();
}

/** The demo keys that name what the pet store has. */
export const demoKeys: Readonly<Record<string, DemoKey>> = {
  'demo-empty': { title: 'Finds no pets and no orders', isEmpty: true },
  'demo-slow': { title: 'Succeeds after 2 s', waitMs: () => 2000 },
  'demo-slow-orders': {
    title: 'Orders arrive after 2 s, the rest at once',
    waitMs: () => 2000,
    only: 'listOrders',
  },
};
