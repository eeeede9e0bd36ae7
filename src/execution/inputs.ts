import {
  coerceInputValue,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getArgumentValues,
  getNullableType,
  getVariableValues,
  isEnumType,
  isRequiredArgument,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { NotCompilable } from './refusals.ts';

/** Variables that were read, as graphql-js hands them to what reads arguments. */
export type VariableValues = NonNullable<Parameters<typeof getArgumentValues>[2]>;

/** Reads the variables of a request; undefined when one of them is not what it is declared as. */
export type ReadVariables = (
  given: Readonly<Record<string, unknown>>,
) => VariableValues | undefined;

/** Makes the arguments of a field. @throws as `getArgumentValues` of graphql-js does. */
export type ReadArguments = (variables: VariableValues) => Readonly<Record<string, unknown>>;

/**
 * Reads variables as `getVariableValues` of graphql-js does, with their types and defaults read once.
 * @throws NotCompilable
 */
export function planVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): ReadVariables {
  const variables = definitions.map((definition) => planVariable(schema, definition));
  return (given) => {
    const values: Values = { sources: {}, coerced: {} };
    for (const { name, signature, absentValues } of variables) {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      const absent = value === undefined ? absentValues() : undefined;
      if (absent !== undefined) {
        values.sources[name] = { signature };
        if (Object.hasOwn(absent, name)) values.coerced[name] = absent[name];
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

/** Values while they are read. */
interface Values {
  readonly sources: Record<string, VariableValues['sources'][string]>;
  readonly coerced: Record<string, unknown>;
}

function planVariable(schema: GraphQLSchema, definition: VariableDefinitionNode) {
  const name = definition.variable.name.value;
  // A name like `constructor` means something in every object.
  if (name in Object.prototype) throw new NotCompilable();
  const type = typeFromAST(schema, definition.type) as GraphQLInputType;
  const { defaultValue } = definition;
  const signature = { name, type, default: defaultValue && { literal: defaultValue } };
  /** What graphql-js makes of it when it is not given; undefined where it must be. */
  const readAbsent = () => {
    const read = getVariableValues(schema, [definition], {});
    return 'variableValues' in read ? read.variableValues?.coerced : undefined;
  };
  const fixed = readAbsent();
  const absentValues = defaultValue === undefined || isFixed(type) ? () => fixed : readAbsent;
  return { name, signature, absentValues };
}

/**
 * Whether a literal of the type means the same value for every request: a list or an object could be
 * changed by a resolver, and a scalar of the schema may read the same literal in another way.
 */
function isFixed(type: GraphQLInputType): boolean {
  const nullable = getNullableType(type);
  return isEnumType(nullable) || (isScalarType(nullable) && isSpecifiedScalarType(nullable));
}

/** Undefined for a value that the type does not take. */
function coerce(value: unknown, type: GraphQLInputType): unknown {
  try {
    return coerceInputValue(value, type);
  } catch {
    return undefined;
  }
}

/** Makes arguments as `getArgumentValues` of graphql-js does; what needs no variable is made once. */
export function planArguments(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ReadArguments {
  const { arguments: all = [] } = node;
  const others = { ...node, arguments: all.filter(({ value }) => value.kind !== Kind.VARIABLE) };
  const variableOf = new Map(
    all.flatMap(({ name, value }) =>
      value.kind === Kind.VARIABLE ? [[name.value, value.name.value]] : [],
    ),
  );
  const isPlannable = definition.args.every((arg) =>
    variableOf.has(arg.name) ? !isRequiredArgument(arg) : isFixed(arg.type),
  );
  if (!isPlannable || hasVariables(others)) {
    return (variables) => getArgumentValues(definition, node, variables);
  }
  const fixed = getArgumentValues(definition, others);
  // In the order of the definition, whichever are passed.
  const members = definition.args.map(({ name }) => ({ name, variable: variableOf.get(name) }));
  return ({ coerced }) => {
    const args: Record<string, unknown> = {};
    for (const { name, variable } of members) {
      if (variable !== undefined && Object.hasOwn(coerced, variable))
        args[name] = coerced[variable];
      else if (Object.hasOwn(fixed, name)) args[name] = fixed[name];
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
