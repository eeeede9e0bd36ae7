import type { SchemaTypes } from '@pothos/core';
import {
  GraphQLDeferDirective,
  GraphQLDirective,
  type GraphQLSchema,
  resolveSchemaCoordinate,
  specifiedDirectives,
} from 'graphql';
import type { Operations } from '../contract/operation.ts';

/** Without the location of a draft, for which strict readers of introspection fail. */
const releasedDirectives = specifiedDirectives.map((directive) => {
  const locations = directive.locations.filter((one) => one !== 'DIRECTIVE_DEFINITION');
  return new GraphQLDirective({ ...directive.toConfig(), locations });
});

/** Builds the schema of a builder that has the fields of these operations. */
export function buildSchema<Types extends SchemaTypes>(
  builder: PothosSchemaTypes.SchemaBuilder<Types>,
  operations: Operations,
  description: string,
): GraphQLSchema {
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
