import {
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  parse,
  resolveSchemaCoordinate,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Kind } from '../src/contract/fields.ts';
import { pets } from '../src/petstore/builtin/tables.ts';
import { operations } from '../src/petstore/operations.ts';
import { pet as petRecord } from '../src/petstore/records.ts';
import { type JsonSchema, readSources, type Sources } from './sources.ts';

/** Returns a sentence for each part that was forgotten, with the file to open. */
export function findOmissions({ openApi, schema, documents, columns }: Sources): string[] {
  const { NewPet } = openApi.components.schemas;
  const documentedFields = Object.entries(NewPet?.properties ?? {}).map(([name, property]) =>
    fieldLine(name, NewPet?.required?.includes(name) ?? false, typeOf(property)),
  );
  const declaredFields = Object.values(petRecord.fields)
    .filter(({ name }) => name !== 'id')
    .map(({ name, kind, isRequired }) => fieldLine(name, isRequired, openApiTypes[kind.name]));
  const documentedOperations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId ? [`${operationId}: ${method.toUpperCase()} ${path}`] : [],
    ),
  );
  const all = Object.entries(operations);
  const declaredOperations = all.map(([id, { method, path }]) => `${id}: ${method} ${path}`);
  const fields = all.map(([, { field }]) => field);
  const selected = selectionsOf(schema, documents);
  const petSelections = Object.keys(petRecord.fields).map((name) => `Pet.${name}`);
  const columnsOfFields = pets.columns.map(({ column }) => `the column ${column} of pets`);
  return [
    ...lacks('schema/openapi.yaml', declaredFields, documentedFields),
    ...lacks('schema/openapi.yaml', declaredOperations, documentedOperations),
    ...lacks('schema/openapi.yaml', undocumented(openApi), []),
    ...lacks('src/petstore/records.ts', documentedFields, declaredFields),
    ...lacks('src/petstore/operations.ts', documentedOperations, declaredOperations),
    ...lacks(
      'src/petstore/builtin/tables.ts',
      columnsOfFields,
      columns.map((name) => `the column ${name} of pets`),
    ),
    ...lacks('src/petstore/graphql', undescribed(schema), []),
    ...fields
      .filter((field) => resolveSchemaCoordinate(schema, field) === undefined)
      .map((field) => `src/petstore/graphql lacks ${field}.`),
    ...lacks('schema/fragments/pet-fields.graphql', petSelections, selected),
    ...lacks('schema/operations', fields, selected),
  ];
}

function lacks(file: string, expected: readonly string[], found: readonly string[]): string[] {
  return [...new Set(expected).difference(new Set(found))].map((one) => `${file} lacks ${one}.`);
}

/** The types of the kinds of fields in the OpenAPI document. Enumerations have a schema of their own. */
const openApiTypes: Readonly<Record<Kind['name'], string>> = {
  int64: 'integer int64',
  text: 'string',
  enumeration: 'reference',
};

function typeOf({ $ref, type, format }: JsonSchema): string {
  return $ref ? 'reference' : [type, format].filter(Boolean).join(' ');
}

function fieldLine(name: string, isRequired: boolean, type: string): string {
  return `the ${isRequired ? 'required' : 'optional'} field ${name} of a pet (${type})`;
}

function undocumented({ components }: Sources['openApi']): string[] {
  return Object.entries(components.schemas).flatMap(([type, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([, { $ref, description }]) => !$ref && !description)
      .map(([name]) => `a description of ${type}.${name}`),
  );
}

function undescribed(schema: GraphQLSchema): string[] {
  const parts = Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .flatMap((type) => {
      const values = isEnumType(type) ? type.getValues() : [];
      const fields =
        isObjectType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];
      return [
        type,
        ...values,
        ...fields,
        ...fields.flatMap((one) => ('args' in one ? one.args : [])),
      ];
    });
  return parts.filter((part) => !part.description).map((part) => `a description of ${part}`);
}

/** Returns the schema coordinates of all fields that documents select. */
function selectionsOf(schema: GraphQLSchema, documents: string): string[] {
  const selections: string[] = [];
  const types = new TypeInfo(schema);
  const Field = () => void selections.push(String(types.getFieldDef()));
  visit(parse(documents), visitWithTypeInfo(types, { Field }));
  return selections;
}

if (import.meta.main) {
  const omissions = findOmissions(await readSources());
  if (omissions.length > 0) {
    process.stderr.write(`${omissions.join('\n')}\n`);
    process.exitCode = 1;
  }
}
