import { builder } from './builder.ts';

builder.queryField('orders', (t) =>
  t.field({
    type: 'JSON',
    nullable: true,
    description:
      'The orders of the store, returned unchanged because their shape is not published.',
    resolve: (_root, _args, context, { path }) => context.listOrders(undefined, path.key),
  }),
);
