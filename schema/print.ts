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
 * A codegen plugin that prints the schema as sorted SDL, with argument defaults and `@stability`.
 * graphql-js prints only its own directives.
 */
export function plugin(schema: GraphQLSchema): string {
  let sdl = printSchema(lexicographicSortSchema(schema));
  // In reverse order, so that an insertion does not move the fields that are still to be changed.
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
