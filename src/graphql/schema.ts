import SchemaBuilder from '@pothos/core';
import { GraphQLDeferDirective, type GraphQLSchema, specifiedDirectives } from 'graphql';
import { addPetStore } from './add-pet-store.ts';
import type { PetStoreBuilder } from './builder.ts';
import { operationStability } from './operation-stability.ts';
import { markStability, type OperationStability, stabilityDirective } from './stability.ts';

const queries =
  'Reads. Each field is one REST call; if it fails, the other fields are still returned.';
const mutations = 'Writes. They run one after another, in the order of the document.';

const description =
  'The animals, orders and messages of a pet store. Send your API key as the header "Authorization: Bearer <API key>". Ids are int64, returned as strings of digits.';

/**
 * Builds the schema with the fields of these operations marked.
 * @throws for an unknown operation.
 */
export function createSchema(stability: OperationStability): GraphQLSchema {
  const builder: PetStoreBuilder = new SchemaBuilder({});
  builder.queryType({ description: queries });
  builder.mutationType({ description: mutations });
  addPetStore(builder);
  const isMarked = Object.keys(stability).length > 0;
  const schema = builder.toSchema({
    sortSchema: false,
    directives: [
      ...specifiedDirectives,
      GraphQLDeferDirective,
      ...(isMarked ? [stabilityDirective] : []),
    ],
  });
  markStability(schema, stability);
  return Object.assign(schema, { description });
}

/** The gateway's GraphQL schema. Built when the module loads, because it follows from declarations alone. */
export const schema = createSchema(operationStability);
