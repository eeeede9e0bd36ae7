import {
  coerceInputValue,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getArgumentValues,
  getNullableType,
  getVariableValues,
  isLeafType,
  isNonNullType,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import type { VariableValues } from './field-collector.ts';

const firstError = { maxErrors: 1, hideSuggestions: true };

/**
 * Plans the coercion of variables, because reading their types takes longer than their values
 * (docs/performance.md). The result is that of graphql-js; undefined if one is invalid.
 */
export function planVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): (rawVariables: Readonly<Record<string, unknown>>) => VariableValues | undefined {
  const signatures = definitions.map(({ variable, type, defaultValue }) => ({
    name: variable.name.value,
    type: typeFromAST(schema, type) as GraphQLInputType,
    default: defaultValue && { literal: defaultValue },
  }));
  return (rawVariables) => {
    const sources: Record<string, VariableValues['sources'][string]> = {};
    const coerced: Record<string, unknown> = {};
    for (const signature of signatures) {
      const { name, type } = signature;
      const value = Object.hasOwn(rawVariables, name) ? rawVariables[name] : undefined;
      if (value === undefined || name === '__proto__') {
        return getVariableValues(schema, definitions, rawVariables, firstError).variableValues;
      }
      try {
        coerced[name] = coerceInputValue(value, type);
      } catch {
        return undefined;
      }
      if (coerced[name] === undefined) return undefined;
      sources[name] = { signature, value };
    }
    return { sources, coerced };
  };
}

/**
 * Plans the coercion of arguments: the literals of leaf types are coerced once.
 * @throws what `getArgumentValues` of graphql-js throws, now or when the arguments are read.
 */
export function planArguments(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (variables: VariableValues) => Readonly<Record<string, unknown>> {
  const variables = new Map<string, string>();
  const literals = (node.arguments ?? []).filter(({ name, value }) => {
    if (value.kind === Kind.VARIABLE) variables.set(name.value, value.name.value);
    return value.kind !== Kind.VARIABLE;
  });
  const isPlain = definition.args.every(({ name, type }) =>
    variables.has(name) ? !isNonNullType(type) : isLeafType(getNullableType(type)),
  );
  if (!isPlain) return (values) => getArgumentValues(definition, node, values);
  const fixed = getArgumentValues(definition, { ...node, arguments: literals });
  return ({ coerced }) => {
    const args: Record<string, unknown> = {};
    for (const { name } of definition.args) {
      const variable = variables.get(name);
      const isGiven = variable !== undefined && Object.hasOwn(coerced, variable);
      if (isGiven || Object.hasOwn(fixed, name)) {
        args[name] = isGiven ? coerced[variable] : fixed[name];
      }
    }
    return args;
  };
}
