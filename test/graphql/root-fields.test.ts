import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  resolveSchemaCoordinate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/petstore/graphql/schema.ts';
import { operations } from '../../src/petstore/operations.ts';
import { postGraphQL } from '../support/graphql.ts';
import { readOpenApi, type Schema } from '../support/openapi.ts';
import { startRestGateway } from '../support/rest-gateway.ts';
import { sendJson } from '../support/upstream.ts';

/** Two literals of each scalar type that arguments have. */
const literals: Readonly<Record<string, readonly string[]>> = {
  ID: ['1', '2'],
  Int: ['1', '2'],
  String: ['"a"', '"b"'],
};

interface Member {
  readonly name: string;
  readonly type: GraphQLInputType;
}

/** The paths of all arguments and of the fields of input objects, such as `addPet.input.name`. */
function pathsOf(parent: string, members: readonly Member[]): string[] {
  return members.flatMap(({ name, type: given }) => {
    const type = getNullableType(given);
    const path = `${parent}.${name}`;
    return isInputObjectType(type) ? pathsOf(path, Object.values(type.getFields())) : [path];
  });
}

/** All members with their first literals, except the one of this path, which has its second. */
function format(parent: string, members: readonly Member[], changed?: string): string {
  const formatted = members.map(({ name, type: given }) => {
    const type = getNullableType(given);
    const path = `${parent}.${name}`;
    if (isInputObjectType(type)) {
      return `${name}: { ${format(path, Object.values(type.getFields()), changed)} }`;
    }
    const values = isEnumType(type) ? type.getValues().map((one) => one.name) : literals[`${type}`];
    return `${name}: ${values?.[path === changed ? 1 : 0]}`;
  });
  return formatted.join(', ');
}

const rootFields = Object.entries(operations).map(([operationId, { field: coordinate }]) => {
  const element = resolveSchemaCoordinate(schema, coordinate);
  const { name, type, args } = (element as { field: GraphQLField<unknown, unknown> }).field;
  const named = getNamedType(type);
  const selection = isObjectType(named) ? `{ ${Object.keys(named.getFields())[0]} }` : '';
  const keyword = coordinate.startsWith('Mutation') ? 'mutation' : 'query';
  const documentWith = (changed?: string) =>
    `${keyword} { ${name}${args.length > 0 ? `(${format(name, args, changed)})` : ''} ${selection} }`;
  return { operationId, name, document: documentWith(), documentWith, paths: pathsOf(name, args) };
});

/** A body of this shape, and others in which a required part has another type or is missing. */
function bodiesOf({ allOf, items, ...schema }: Schema): { valid: unknown; invalid: unknown[] } {
  if (items) {
    const { valid, invalid } = bodiesOf(items);
    return { valid: [valid], invalid: [true, ...invalid.map((one) => [one])] };
  }
  const parts = allOf ?? [schema];
  const required = parts.flatMap((one) => one.required ?? []);
  if (required.length === 0) {
    const valid = schema.type === 'integer' ? 1 : '2026-01-01T00:00:00Z';
    return { valid, invalid: schema.type ? [true] : [] };
  }
  const properties: Schema['properties'] = Object.assign({}, ...parts.map((one) => one.properties));
  const members = required.map((name) => ({ name, ...bodiesOf(properties?.[name] ?? {}) }));
  const valid = Object.fromEntries(members.map((one) => [one.name, one.valid]));
  const changed = members.flatMap(({ name, invalid }) =>
    [undefined, ...invalid].map((value) => ({ ...valid, [name]: value })),
  );
  return { valid, invalid: [true, ...changed] };
}

/** Calls a gateway whose REST service responds with this body, and returns what the service received. */
async function callsOf(documents: readonly string[], body: string) {
  await using opened = await startRestGateway((_, response) => sendJson(response, 200, body));
  const codes = [];
  for (const document of documents) {
    const { errors } = await postGraphQL(opened.gateway, document);
    codes.push(errors?.[0]?.extensions['code']);
  }
  return { codes, received: opened.upstream.seen.map((one) => `${one.url} ${one.body}`) };
}

describe('root fields', () => {
  it.each(
    rootFields.flatMap(({ paths, ...field }) => paths.map((path) => ({ ...field, path }))),
  )('send $path to the REST service', async ({ document, documentWith, path }) => {
    const { received } = await callsOf([document, documentWith(path)], 'null');
    expect(new Set(received).size).toBe(2);
  });

  it.each(rootFields)('refuse a response of another shape: $name', async (field) => {
    const { operations: documented } = await readOpenApi();
    const { responses = {} } =
      documented.find(({ operationId }) => operationId === field.operationId) ?? {};
    const schemas = ['200', '201'].map(
      (status) => responses[status]?.content?.['application/json'],
    );
    const { schema: shape = {} } = schemas.find((one) => one !== undefined) ?? {};
    const { valid, invalid } = bodiesOf(shape);
    for (const body of [valid, ...invalid]) {
      const { codes } = await callsOf([field.document], JSON.stringify(body));
      const code = body === valid ? undefined : 'UPSTREAM_INVALID_RESPONSE';
      expect({ body, codes }).toEqual({ body, codes: [code] });
    }
  });
});
