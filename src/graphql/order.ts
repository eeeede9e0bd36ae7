import type { PetStoreBuilder } from './builder.ts';

/** Adds the query of the orders. */
export function addOrders(builder: PetStoreBuilder): void {
  builder.queryField('orders', (t) =>
    t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The orders of the store, returned unchanged because their shape is not published.',
      resolve: (_root, _args, { petStore }, { path }) => petStore.listOrders(undefined, path.key),
    }),
  );
}
