import type { PetStoreBuilder } from './builder.ts';

/** Adds the orders. */
export function addOrders(builder: PetStoreBuilder): void {
  builder.scalarType('JSON', {
    description: 'JSON whose shape is not published, returned unchanged. Integers keep all digits.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
    serialize: (json) => json,
  });
  builder.queryField('orders', (t) =>
    t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The orders of the store, returned unchanged because their shape is not published.',
      resolve: (_root, _args, { petStore }, { path }) => petStore.listOrdersAsText(path.key),
    }),
  );
}
