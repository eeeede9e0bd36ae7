import { readFileSync } from 'node:fs';
import { buildSchema, isNullableType, isObjectType, print } from 'graphql';
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

/** Operations for nullable fields, and a REST body in which what each returns is null. */
const operations: Record<string, readonly [document: string, body: string]> = {
  'Mutation.addPet': ['mutation { addPet(input: { name: "a", categoryId: 1 }) { id } }', 'null'],
  'Mutation.sendMessage': ['mutation { sendMessage(message: "a") { id } }', 'null'],
  'Query.pet': ['{ pet(id: 1) { id } }', 'null'],
  'Query.pets': ['{ pets { id } }', 'null'],
};

it.each(nullableFields)('marks $field if it is null only beside an error: $isMarked', async ({
  field,
  isMarked,
}) => {
  const [type = '', name = ''] = field.split('.');
  const usual =
    type === 'Pet'
      ? [`{ pets { ${name} } }`, '[{ "id": 1, "name": "a", "categoryId": 1 }]']
      : [`{ ${name} }`, 'null'];
  const [document = '', body = ''] = operations[field] ?? usual;
  await using opened = await startRestGateway((_, response) => sendJson(response, 200, body));
  const { text, errors } = await postGraphQL(opened.gateway, document);
  expect(opened.upstream.seen).toHaveLength(1);
  expect(text).toContain('null');
  expect(errors !== undefined).toBe(isMarked);
});
