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
import { NotCompilableError } from './field-collector.ts';

/** Coerced variables in the format that `getArgumentValues` of graphql-js takes. */
export type VariableValues = NonNullable<Parameters<typeof getArgumentValues>[2]>;

/** Coerces the variables of a request; returns undefined if one of them is invalid. */
export type ReadVariables = (
  rawVariables: Readonly<Record<string, unknown>>,
) => VariableValues | undefined;

/** Coerces the arguments of a field. @throws like `getArgumentValues` of graphql-js. */
export type ReadArguments = (variables: VariableValues) => Readonly<Record<string, unknown>>;

/**
 * Plans the coercion of variables. The result is that of `getVariableValues` of graphql-js, but
 * types and defaults are read only once.
 * @throws NotCompilableError if a variable has the name of a property of `Object.prototype`.
 */
export function planVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): ReadVariables {
  const variables = definitions.map((definition) => planVariable(schema, definition));
  return (rawVariables) => {
    const values: Values = { sources: {}, coerced: {} };
    for (const { name, signature, absentValues } of variables) {
      const value = Object.hasOwn(rawVariables, name) ? rawVariables[name] : undefined;
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

/** Coerced variables under construction. */
interface Values {
  readonly sources: Record<string, VariableValues['sources'][string]>;
  readonly coerced: Record<string, unknown>;
}

function planVariable(schema: GraphQLSchema, definition: VariableDefinitionNode) {
  const name = definition.variable.name.value;
  // Every object has a property with a name like `constructor`.
  if (name in Object.prototype) throw new NotCompilableError();
  const type = typeFromAST(schema, definition.type) as GraphQLInputType;
  const { defaultValue } = definition;
  const signature = { name, type, default: defaultValue && { literal: defaultValue } };
  /** Returns the variables if this one is absent; undefined if it is required. */
  const readAbsent = () => {
    const read = getVariableValues(schema, [definition], {});
    return 'variableValues' in read ? read.variableValues?.coerced : undefined;
  };
  const fixed = readAbsent();
  const absentValues = defaultValue === undefined || isShareable(type) ? () => fixed : readAbsent;
  return { name, signature, absentValues };
}

/**
 * Whether all requests can share the value of a literal of this type. A resolver could change a
 * list or an object, and a custom scalar could parse the same literal differently each time.
 */
function isShareable(type: GraphQLInputType): boolean {
  const nullable = getNullableType(type);
  return isEnumType(nullable) || (isScalarType(nullable) && isSpecifiedScalarType(nullable));
}

/** Returns undefined for an invalid value. */
function coerce(value: unknown, type: GraphQLInputType): unknown {
  try {
    return coerceInputValue(value, type);
  } catch {
    return undefined;
  }
}

/**
 * Plans the coercion of arguments. The result is that of `getArgumentValues` of graphql-js, but
 * literals are coerced only once.
 */
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
    variableOf.has(arg.name) ? !isRequiredArgument(arg) : isShareable(arg.type),
  );
  if (!isPlannable || hasVariables(others)) {
    return (variables) => getArgumentValues(definition, node, variables);
  }
  const fixed = getArgumentValues(definition, others);
  // Arguments have the order of the definition, as in graphql-js.
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
  const onVariable = () => {
    found = true;
  };
  for (const arg of args) visit(arg, { [Kind.VARIABLE]: onVariable });
  return found;
}
