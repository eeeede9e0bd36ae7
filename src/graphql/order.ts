import { builder } from './builder.ts';

builder.queryField('orders', (t) =>
  t.field({
    type: 'JSON',
    nullable: true,
    description:
      "The store's orders. Their shape is not published, so they are passed through as they are.",
    resolve: (_root, _args, context) => context.orders.load('all'),
  }),
);
