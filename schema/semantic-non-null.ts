import { extendSchema, type GraphQLSchema, getNamedType, isNullableType, parse } from 'graphql';
import { printWith } from './print.ts';

/** As Relay and Apollo Kotlin read it: https://specs.apollo.dev/nullability/v0.4. */
const definition = parse(`
"""
The field is null only beside an error. A client that handles errors apart from data can read it as non-null. A level is a depth of lists; 0 is the field itself.
"""
directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION`);

/**
 * A codegen plugin that prints the schema with `@semanticNonNull` on the nullable root fields: each
 * is one call, and the contract requires its body. JSON of an unpublished shape can be null without an
 * error. Below the roots, a nullable field is optional in the contract.
 */
export function plugin(schema: GraphQLSchema): string {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  return printWith(extendSchema(schema, definition), (field, type) => {
    const isMarked =
      roots.some((root) => root?.name === type.name) &&
      isNullableType(field.type) &&
      getNamedType(field.type).name !== 'JSON';
    return isMarked ? '@semanticNonNull' : undefined;
  });
}
