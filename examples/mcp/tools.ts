import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromJsonSchema } from '@modelcontextprotocol/server';
import * as graphql from 'graphql';
import * as client from 'petstore-gateway-client';
import { describe, jsonSchema } from './json-schema.ts';

const sdl = fileURLToPath(import.meta.resolve('petstore-gateway-client/schema.graphql'));
const schema = graphql.buildSchema(readFileSync(sdl, 'utf8'));

/** Mutations that change and delete nothing. One that is not listed counts as destructive. */
const additive = ['AddPet', 'SendMessage'];

/** A tool for each document of the client package. */
export const tools = Object.entries(client)
  .filter(([name]) => name.endsWith('Document'))
  .map(([, document]) => createTool(document as graphql.DocumentNode));

function createTool(document: graphql.DocumentNode) {
  const operation = graphql.getOperationAST(document) as graphql.OperationDefinitionNode;
  const name = operation.name?.value ?? '';
  const isQuery = operation.operation === 'query';
  const { fields, variables } = readDescriptions(document);
  const input = new graphql.GraphQLInputObjectType({
    name,
    fields: Object.fromEntries(
      (operation.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => [
        variable.name.value,
        {
          type: graphql.typeFromAST(schema, type) as graphql.GraphQLInputType,
          description: variables[variable.name.value] ?? '',
          ...(defaultValue && { defaultValue: graphql.valueFromASTUntyped(defaultValue) }),
        },
      ]),
    ),
  });
  const annotations = {
    readOnlyHint: isQuery,
    // The contract has no key by which the service would recognise a repeated write.
    ...(!isQuery && { destructiveHint: !additive.includes(name), idempotentHint: false }),
  };
  const inputSchema = fromJsonSchema(jsonSchema(input));
  return {
    name,
    document,
    isQuery,
    config: { description: fields.join('\n'), inputSchema, annotations },
  };
}

/** Describes each selected field, and each variable as the argument that it is passed to. */
function readDescriptions(document: graphql.DocumentNode) {
  const fields: string[] = [];
  const variables: Record<string, string> = {};
  const types = new graphql.TypeInfo(schema);
  const visitor = graphql.visitWithTypeInfo(types, {
    Field(node) {
      const field = types.getFieldDef();
      if (!field || field.name.startsWith('__')) return;
      const text = graphql.print({ ...node, selectionSet: undefined });
      fields.push(`${types.getParentType()} { ${text} }: ${describe(field)}`);
    },
    Argument({ value }) {
      const argument = types.getArgument();
      if (argument && 'name' in value) variables[value.name.value] = describe(argument);
    },
  });
  // The root fields first.
  const definitions = document.definitions.toSorted(({ kind }) =>
    kind === graphql.Kind.OPERATION_DEFINITION ? -1 : 1,
  );
  graphql.visit({ ...document, definitions }, visitor);
  return { fields, variables };
}
