import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isNonNullType,
  isNullableType,
  isObjectType,
  print,
  resolveSchemaCoordinate,
} from 'graphql';
import { expect, it } from 'vitest';
import { postGraphQL } from '../support/graphql.ts';
import { startRestGateway } from '../support/rest-gateway.ts';
import { sendJson } from '../support/upstream.ts';

const file = new URL('../../schema/semantic-non-null.graphql', import.meta.url);
const schema = buildSchema(readFileSync(file, 'utf8'));

/** The nullable fields of all types, such as `Query.pets`, with whether each is marked. */
const nullableFields = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter((type) => !type.name.startsWith('__'))
  .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
  .filter(({ field }) => isNullableType(field.type))
  .map(({ type, field: { name, astNode } }) => ({
    field: `${type.name}.${name}`,
    isMarked: astNode ? print(astNode).includes('@semanticNonNull') : false,
  }));

/** Writes a value of a type, for a required argument. */
function exampleOf(type: GraphQLInputType): string {
  const named = getNullableType(type);
  if (!isInputObjectType(named)) return isEnumType(named) ? `${named.getValues()[0]}` : '"1"';
  const fields = Object.values(named.getFields()).filter((field) => isNonNullType(field.type));
  return `{ ${fields.map((field) => `${field.name}: ${exampleOf(field.type)}`).join(' ')} }`;
}

/** Writes the operation of a root field, with its required arguments and an id. */
function operationOf(coordinate: string): string {
  const found = resolveSchemaCoordinate(schema, coordinate);
  if (found?.kind !== 'Field') throw new Error(coordinate);
  const { name, args, type } = found.field;
  const required = args.filter((arg) => isNonNullType(arg.type));
  const values = required.map((arg) => `${arg.name}: ${exampleOf(arg.type)}`).join(' ');
  const selection = isLeafType(getNamedType(type)) ? '' : ' { id }';
  const kind = coordinate.startsWith('Mutation.') ? 'mutation ' : '';
  return `${kind}{ ${name}${values && `(${values})`}${selection} }`;
}

it.each(nullableFields)('marks $field if it is null only beside an error: $isMarked', async ({
  field,
  isMarked,
}) => {
  const [type, name] = field.split('.');
  // A REST body in which what the field returns is null.
  const [document, body] =
    type === 'Pet'
      ? [`{ pets { ${name} } }`, '[{ "id": 1, "name": "a", "categoryId": 1 }]']
      : [operationOf(field), 'null'];
  await using opened = await startRestGateway((_, response) => sendJson(response, 200, body));
  const { text, errors } = await postGraphQL(opened.gateway, document);
  expect(opened.upstream.seen).toHaveLength(1);
  const isNullAlone = text.includes('null') && errors === undefined;
  expect(isNullAlone).toBe(!isMarked);
});
