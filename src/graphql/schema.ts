import { builder } from './builder.ts';
import './scalars.ts';
import './pet.ts';
import './order.ts';
import './message.ts';

builder.queryType({
  description: 'Reads. Every field is a REST call of its own and fails on its own.',
});
builder.mutationType({
  description: 'Writes. They run one after the other, in the order of the document.',
});

/** The gateway's GraphQL schema. */
export const schema = builder.toSchema();
