import SchemaBuilder from '@pothos/core';
import type { GraphQLSchema } from 'graphql';
import { buildSchema } from '../../graphql/schema.ts';
import { operations } from '../operations.ts';
import { addPetStore, type PetStoreRefs } from './add-pet-store.ts';
import type { PetStoreBuilder } from './builder.ts';

const queries =
  'Reads. Each field is one REST call; if it fails, the other fields are still returned.';
const mutations = 'Writes. They run one after another, in the order of the document.';

const description =
  'The pets, orders and messages of a pet store. Send your API key as the header "Authorization: Bearer <API key>". Ids are int64, returned as strings of digits. Each error has `extensions.code`, such as UNAUTHENTICATED, NOT_FOUND or UPSTREAM_TIMEOUT; those of mutation fields also have `extensions.outcome`: NOT_DONE, DONE or UNKNOWN.';

/** Adds fields and types of a host to the builder of the schema, which has those of the pet store. */
export type ExtendSchema = (
  builder: PetStoreBuilder,
  refs: PetStoreRefs<PetStoreBuilder['$inferSchemaTypes']>,
) => void;

/** Builds the schema, with the fields and types of a host. */
export function createSchema(extend?: ExtendSchema): GraphQLSchema {
  const builder: PetStoreBuilder = new SchemaBuilder({});
  builder.queryType({ description: queries });
  builder.mutationType({ description: mutations });
  const refs = addPetStore(builder);
  extend?.(builder, refs);
  return buildSchema(builder, operations, description);
}

/** The gateway's GraphQL schema. Built when the module loads, because it follows from declarations alone. */
export const schema = createSchema();
