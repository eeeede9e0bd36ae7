import type { JSONValue, JsonSchemaType } from '@modelcontextprotocol/server';
import * as graphql from 'graphql';

type Description = Pick<graphql.GraphQLArgument, 'description' | 'deprecationReason'>;

/** What the schema says of a field or an argument, with the date of its removal if it is deprecated. */
export function describe({ description, deprecationReason }: Description): string {
  const deprecation = deprecationReason && `Deprecated: ${deprecationReason}`;
  return [description, deprecation].filter(Boolean).join(' ');
}

/** The scalars of the schema. An `ID` is an int64: as a string, it keeps its digits in every client. */
const scalars: Readonly<Record<string, JsonSchemaType>> = {
  ID: { type: 'string', pattern: '^-?[0-9]+$', description: 'Pass a string.' },
  Int: { type: 'integer' },
  String: { type: 'string' },
};

/** The JSON Schema of an input type. An optional value is left out: null is not accepted. */
export function jsonSchema(type: graphql.GraphQLInputType): JsonSchemaType {
  if (graphql.isNonNullType(type)) return jsonSchema(type.ofType);
  if (graphql.isListType(type)) return { type: 'array', items: jsonSchema(type.ofType) };
  if (graphql.isEnumType(type)) return { enum: type.getValues().map(({ name }) => name) };
  if (graphql.isScalarType(type)) return scalars[type.name] ?? {};
  const fields = Object.values(type.getFields());
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, propertySchema(field)])),
    required: fields.filter(graphql.isRequiredInputField).map(({ name }) => name),
    additionalProperties: false,
  };
}

function propertySchema(field: graphql.GraphQLInputField): JsonSchemaType {
  const { description, ...schema } = jsonSchema(field.type);
  const value = field.defaultValue as JSONValue | undefined;
  // The default of the document replaces the one that the description names.
  const replaced = value === undefined ? undefined : `The default of this tool is ${value}.`;
  const texts = [describe(field), description, replaced];
  return {
    ...schema,
    description: texts.filter(Boolean).join(' '),
    ...(value !== undefined && { default: value }),
  };
}
