import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';

/** A codegen plugin: the schema as SDL, sorted, with the defaults of its arguments. */
export function plugin(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
