import {
  type GraphQLSchema,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  parse,
  printSchema,
} from 'graphql';
import { stabilityOf } from '../src/graphql/stability.ts';

/**
 * A codegen plugin: the schema as SDL, sorted, with the defaults of its arguments and with
 * `@stability`: of the directives, graphql-js prints none but its own.
 */
export function plugin(schema: GraphQLSchema): string {
  let sdl = printSchema(lexicographicSortSchema(schema));
  // From the last to the first: what is added to a field moves the end of no field before it.
  for (const definition of parse(sdl).definitions.toReversed()) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    const type = schema.getType(definition.name.value);
    for (const { name, loc } of definition.fields?.toReversed() ?? []) {
      const field = isObjectType(type) && type.getFields()[name.value];
      const level = field && stabilityOf(field);
      if (!level || !loc) continue;
      sdl = `${sdl.slice(0, loc.end)} @stability(level: "${level}")${sdl.slice(loc.end)}`;
    }
  }
  return `${sdl}\n`;
}
