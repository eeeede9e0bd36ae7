import {
  buildSchema,
  type FieldNode,
  getArgumentValues,
  getVariableValues,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { planArguments, planVariables } from '../../src/execution/inputs.ts';

const schema = buildSchema(`
  type Query { field(size: Int = 20, color: Color, ids: [ID!], filter: Filter, name: String!): Int }
  enum Color { RED BLUE }
  input Filter { color: Color = RED, names: [String] }
`);
const operation = parse(`
  query ($size: Int, $ten: Int = 10, $color: Color = BLUE, $ids: [ID!], $filter: Filter, $name: String = "n") {
    passed: field(size: $size, color: $color, ids: $ids, filter: $filter, name: "n")
    defaulted: field(size: $ten, name: "n")
    nested: field(ids: ["1"], filter: { color: $color, names: ["a", $name] }, name: "n")
    required: field(name: $name)
    fixed: field(size: null, name: "n")
  }
`).definitions[0] as OperationDefinitionNode;
const definitions = operation.variableDefinitions ?? [];
const field = schema.getQueryType()?.getFields()['field'];
if (field === undefined) throw new Error('Expected a field');

describe('planVariables and planArguments', () => {
  it.each([
    {},
    { size: 5, ten: 6, color: 'RED', ids: [1, '2'], filter: { names: [null] }, name: 'x' },
    { size: null, ten: null, color: null, ids: null, filter: null },
    { ids: 7, filter: { color: null } },
    { size: 1e9, other: 'not declared' },
  ])('coerce %j like graphql-js', (given) => {
    const { variableValues: expected } = getVariableValues(schema, definitions, given) as {
      variableValues?: NonNullable<Parameters<typeof getArgumentValues>[2]>;
    };
    const variables = planVariables(schema, definitions)(given);
    expect(plain(variables)).toEqual(plain(expected));
    for (const node of operation.selectionSet.selections as readonly FieldNode[]) {
      const args = variables && planArguments(field, node)(variables);
      expect({ ...args }, node.alias?.value).toStrictEqual({
        ...getArgumentValues(field, node, expected),
      });
    }
  });

  it.each([
    { size: 'five' },
    { size: 2 ** 40 },
    { color: 'GREEN' },
    { filter: { nope: 1 } },
  ])('leave the error for %j to the fallback executor', (given) => {
    expect(planVariables(schema, definitions)(given)).toBeUndefined();
  });
});

/** Removes prototypes, which differ, and graphql-js's internal fields. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, item) =>
    name.startsWith('_') ? undefined : item,
  );
}
