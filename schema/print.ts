import {
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  parse,
  printSchema,
} from 'graphql';

type Field = ReturnType<GraphQLObjectType['getFields']>[string];

/**
 * Prints the schema as sorted SDL, with argument defaults. graphql-js prints only its own directives;
 * `directiveOf` returns the others of a field.
 */
export function printWith(
  schema: GraphQLSchema,
  directiveOf: (field: Field, type: GraphQLObjectType) => string | undefined,
): string {
  let sdl = printSchema(lexicographicSortSchema(schema));
  // In reverse order, so that an insertion does not move the fields that are still to be changed.
  for (const definition of parse(sdl).definitions.toReversed()) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    const type = schema.getType(definition.name.value);
    for (const { name, loc } of definition.fields?.toReversed() ?? []) {
      const field = isObjectType(type) && type.getFields()[name.value];
      const directive = field && directiveOf(field, type);
      if (!directive || !loc) continue;
      sdl = `${sdl.slice(0, loc.end)} ${directive}${sdl.slice(loc.end)}`;
    }
  }
  return `${sdl}\n`;
}

/** A codegen plugin that prints the schema. */
export function plugin(schema: GraphQLSchema): string {
  return printWith(schema, () => undefined);
}
