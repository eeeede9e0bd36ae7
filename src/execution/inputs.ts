import {
  coerceInputValue,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  isRequiredArgument,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { NotCompilable } from './not-compilable.ts';

/** Variables that were read, as graphql hands them to what reads arguments. */
export type VariableValues = NonNullable<Parameters<typeof getArgumentValues>[2]>;

/** Reads the variables of a request; undefined when one of them is not what it is declared as. */
export type ReadVariables = (
  given: Readonly<Record<string, unknown>>,
) => VariableValues | undefined;

/** Makes the arguments of a field. @throws as `getArgumentValues` of graphql does. */
export type ReadArguments = (variables: VariableValues) => Readonly<Record<string, unknown>>;

/**
 * Reads variables as `getVariableValues` of graphql does, with their types and defaults read once.
 * @throws NotCompilable
 */
export function planVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): ReadVariables {
  const variables = definitions.map((definition) => planVariable(schema, definition));
  return (given) => {
    const values: Values = { sources: {}, coerced: {} };
    for (const { name, signature, defaults } of variables) {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      if (value === undefined && defaults !== undefined) {
        values.sources[name] = { signature };
        if (Object.hasOwn(defaults, name)) values.coerced[name] = defaults[name];
        continue;
      }
      const coerced = coerce(value, signature.type);
      if (coerced === undefined) return undefined;
      values.sources[name] = { signature, value };
      values.coerced[name] = coerced;
    }
    return values;
  };
}

/** Values while they are made. */
interface Values {
  readonly sources: Record<string, VariableValues['sources'][string]>;
  readonly coerced: Record<string, unknown>;
}

function planVariable(schema: GraphQLSchema, definition: VariableDefinitionNode) {
  const name = definition.variable.name.value;
  // In an object that is not made for it, this one would be the prototype.
  if (name === '__proto__') throw new NotCompilable();
  const type = typeFromAST(schema, definition.type) as GraphQLInputType;
  const { defaultValue } = definition;
  const signature = { name, type, default: defaultValue && { literal: defaultValue } };
  // What graphql makes of it when it is not given; an error where it must be.
  const absent = getVariableValues(schema, [definition], {});
  const defaults = 'variableValues' in absent ? absent.variableValues?.coerced : undefined;
  return { name, signature, defaults };
}

/** Undefined for a value that the type does not take. */
function coerce(value: unknown, type: GraphQLInputType): unknown {
  try {
    return coerceInputValue(value, type);
  } catch {
    return undefined;
  }
}

/** Makes arguments as `getArgumentValues` of graphql does; what needs no variable is made once. */
export function planArguments(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ReadArguments {
  const { arguments: all = [] } = node;
  const passed = all.flatMap(({ name, value }) =>
    value.kind === Kind.VARIABLE ? { name: name.value, variable: value.name.value } : [],
  );
  const others = { ...node, arguments: all.filter(({ value }) => value.kind !== Kind.VARIABLE) };
  const isRequired = (name: string) =>
    definition.args.some((arg) => arg.name === name && isRequiredArgument(arg));
  if (hasVariables(others) || passed.some(({ name }) => isRequired(name))) {
    return (variables) => getArgumentValues(definition, node, variables);
  }
  const fixed = getArgumentValues(definition, others);
  if (passed.length === 0) return () => fixed;
  return ({ coerced }) => {
    const args = { ...fixed };
    for (const { name, variable } of passed) {
      if (Object.hasOwn(coerced, variable)) args[name] = coerced[variable];
    }
    return args;
  };
}

function hasVariables({ arguments: args = [] }: FieldNode): boolean {
  let found = false;
  const note = () => {
    found = true;
  };
  for (const arg of args) visit(arg, { [Kind.VARIABLE]: note });
  return found;
}
