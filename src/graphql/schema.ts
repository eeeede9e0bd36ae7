import SchemaBuilder from '@pothos/core';
import {
  GraphQLDeferDirective,
  GraphQLDirective,
  type GraphQLSchema,
  resolveSchemaCoordinate,
  specifiedDirectives,
} from 'graphql';
import { operations } from '../contract/pet-store.ts';
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

/** Without the location of a draft, for which strict readers of introspection fail. */
const releasedDirectives = specifiedDirectives.map((directive) => {
  const locations = directive.locations.filter((one) => one !== 'DIRECTIVE_DEFINITION');
  return new GraphQLDirective({ ...directive.toConfig(), locations });
});

/** Builds the schema, with the fields and types of a host. */
export function createSchema(extend?: ExtendSchema): GraphQLSchema {
  const builder: PetStoreBuilder = new SchemaBuilder({});
  builder.queryType({ description: queries });
  builder.mutationType({ description: mutations });
  const refs = addPetStore(builder);
  extend?.(builder, refs);
  const directives = [...releasedDirectives, GraphQLDeferDirective];
  const schema = builder.toSchema({ sortSchema: false, directives });
  for (const { field } of Object.values(operations)) {
    const found = resolveSchemaCoordinate(schema, field);
    if (found?.kind !== 'Field') continue;
    // By which the compiler knows it, unless a plugin replaces the resolver.
    const { field: root } = found;
    root.extensions = { ...root.extensions, contractResolver: root.resolve };
  }
  return Object.assign(schema, { description });
}

/** The gateway's GraphQL schema. Built when the module loads, because it follows from declarations alone. */
export const schema = createSchema();
