import {
  type GraphQLSchema,
  getNamedType,
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
import type { Operation } from '../src/contract/operation.ts';
import type { RecordType } from '../src/contract/record.ts';
import { store } from '../src/petstore/builtin/store.ts';
import { operations } from '../src/petstore/operations.ts';
import { type JsonSchema, readSources, type Sources } from './sources.ts';

/** Returns a sentence for each part that was forgotten, with the file to open. */
export function findOmissions({ openApi, schema, documents, columns }: Sources): string[] {
  const all = Object.entries<Operation>(operations);
  const records = all.flatMap(([, operation]) => recordsOf(operation));
  const documentedFields = records.flatMap((type) => documentedIn(openApi, type));
  const declaredFields = records.flatMap(({ singular, fields }) =>
    Object.values(fields)
      .filter(({ isAssigned }) => !isAssigned)
      .map(({ name, kind, isRequired }) =>
        fieldLine(singular, name, isRequired, openApiTypes[kind.name]),
      ),
  );
  const documentedOperations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId ? [`${operationId}: ${method.toUpperCase()} ${path}`] : [],
    ),
  );
  const declaredOperations = all.map(([id, { method, path }]) => `${id}: ${method} ${path}`);
  const fields = all.map(([, { field }]) => field);
  const selected = selectionsOf(schema, documents);
  const selections = all.flatMap(([, operation]) => selectionsFor(schema, operation));
  const columnsOfFields = Object.entries(store.recordKinds).flatMap(([table, kind]) =>
    kind === 'document' ? [] : kind.columns.map(({ column }) => `the column ${column} of ${table}`),
  );
  return [
    ...lacks('schema/openapi.yaml', declaredFields, documentedFields),
    ...lacks('schema/openapi.yaml', declaredOperations, documentedOperations),
    ...lacks('schema/openapi.yaml', undocumented(openApi), []),
    ...lacks('src/petstore/records.ts', documentedFields, declaredFields),
    ...lacks('src/petstore/operations.ts', documentedOperations, declaredOperations),
    ...lacks('src/petstore/builtin/tables.ts', columnsOfFields, columns),
    ...lacks('src/petstore/graphql', undescribed(schema), []),
    ...fields
      .filter((field) => resolveSchemaCoordinate(schema, field) === undefined)
      .map((field) => `src/petstore/graphql lacks ${field}.`),
    ...lacks('schema/fragments', selections, selected),
    ...lacks('schema/operations', fields, selected),
  ];
}

function lacks(file: string, expected: readonly string[], found: readonly string[]): string[] {
  return [...new Set(expected).difference(new Set(found))].map((one) => `${file} lacks ${one}.`);
}

/** Returns the records that a request or a response has. */
function recordsOf({ body, response }: Operation): RecordType[] {
  return [body, response].flatMap((part) => {
    if (typeof part !== 'object' || 'member' in part) return [];
    return 'listOf' in part ? part.listOf : part;
  });
}

/** Returns the fields that the document has of a new record; `Pet` is `NewPet` if the service assigns some. */
function documentedIn({ components }: Sources['openApi'], { singular, fields }: RecordType) {
  const name = singular[0]?.toUpperCase() + singular.slice(1);
  const { properties = {}, required } =
    components.schemas[`New${name}`] ?? components.schemas[name] ?? {};
  return Object.entries(properties)
    .filter(([property]) => !fields[property]?.isAssigned)
    .map(([property, type]) =>
      fieldLine(singular, property, required?.includes(property) ?? false, typeOf(type)),
    );
}

/** Returns the schema coordinates of the fields of the records that an operation returns. */
function selectionsFor(schema: GraphQLSchema, { body: _, ...operation }: Operation): string[] {
  const { field } = operation;
  const found = resolveSchemaCoordinate(schema, field);
  if (found?.kind !== 'Field') return [];
  const type = getNamedType(found.field.type);
  return recordsOf(operation).flatMap(({ fields }) =>
    Object.keys(fields).map((name) => `${type}.${name}`),
  );
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

function fieldLine(record: string, name: string, isRequired: boolean, type: string): string {
  return `the ${isRequired ? 'required' : 'optional'} field ${name} of a ${record} (${type})`;
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
