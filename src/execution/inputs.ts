import {
  coerceInputValue,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  isLeafType,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import type { VariableValues } from './field-collector.ts';

/**
 * Plans the coercion of variables, because reading their types takes longer than their values
 * (docs/performance.md). The result is that of graphql-js; undefined if one is invalid.
 */
export function planVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): (given: Readonly<Record<string, unknown>>) => VariableValues | undefined {
  const signatures = definitions.map(({ variable, type }) => ({
    name: variable.name.value,
    type: typeFromAST(schema, type) as GraphQLInputType,
  }));
  return (given) => {
    const sources = Object.create(null);
    const coerced = Object.create(null);
    for (const signature of signatures) {
      const { name, type } = signature;
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      coerced[name] = value === undefined ? undefined : coerceInputValue(value, type);
      if (coerced[name] === undefined) {
        return getVariableValues(schema, definitions, given).variableValues;
      }
      sources[name] = { signature, value };
    }
    return { sources, coerced };
  };
}

/**
 * Plans the coercion of arguments: if all of them are nullable leaves, literals and defaults are
 * coerced once. @throws what `getArgumentValues` throws, now or when the arguments are read.
 */
export function planArguments(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (variables: VariableValues) => Readonly<Record<string, unknown>> {
  if (!definition.args.every(({ type }) => isLeafType(type))) {
    return (values) => getArgumentValues(definition, node, values);
  }
  const { arguments: given = [] } = node;
  const literals = given.filter(({ value }) => value.kind !== Kind.VARIABLE);
  const fixed = getArgumentValues(definition, { ...node, arguments: literals });
  const variables = given.flatMap(({ name, value }) =>
    value.kind === Kind.VARIABLE ? [{ name: name.value, variable: value.name.value }] : [],
  );
  return ({ coerced }) => {
    const values = { ...fixed };
    for (const { name, variable } of variables) {
      if (Object.hasOwn(coerced, variable)) values[name] = coerced[variable];
    }
    return values;
  };
}
