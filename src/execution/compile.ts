import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  isNonNullType,
  Kind,
  OperationTypeNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { Execution } from './execution.ts';
import { planVariables } from './inputs.ts';
import { type Conditions, type Execute, planOperation } from './plan.ts';
import type { CompiledSource } from './replay.ts';

/**
 * Executes an operation that was compiled; undefined where that is for the fallback executor: when
 * the variables can't be read, since the fallback executor reports why, when they include a
 * selection that is not compiled, and once a value was not what compiled code completes.
 */
export type CompiledOperation = (
  context: object,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult> | undefined;

/** An operation with more conditions has too many forms. */
const maxConditions = 4;

/** The forms of an operation that are kept; to make one again costs less than a millisecond. */
const maxForms = 2;

/**
 * Compiles an operation of a document that is valid for the schema; undefined where compiled code
 * would not answer exactly as graphql-js does. That is a subscription, introspection, directives of
 * others than GraphQL itself, interfaces, unions, resolvers below the root, and whatever may still
 * fail when the variables have been read. A value that only an execution shows (a function, a
 * promise, a list that is not an array) is completed by graphql-js, which then keeps the operation.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): CompiledOperation | undefined {
  const operation = getOperationAST(document, operationName);
  const root = operation && schema.getRootType(operation.operation);
  if (!root || operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;
  const conditions = conditionsOf(schema, document);
  if (conditions === undefined || conditions.length > maxConditions) return undefined;
  const definitions = operation.variableDefinitions ?? [];
  const readVariables = attempt(() => planVariables(schema, definitions));
  if (readVariables === undefined) return undefined;
  const source: CompiledSource = { schema, document, operation, root };
  const plans = new Map<string, Execute | undefined>();
  let isCompiled = true;
  const giveUp = () => {
    isCompiled = false;
  };

  /** The plan for the form that an operation has under these conditions. */
  const planFor = (variables: Conditions): Execute | undefined => {
    const form = conditions.map((name) => (variables[name] ? '1' : '0')).join('');
    if (!plans.has(form)) {
      const plan = attempt(() => planOperation(source, variables, giveUp));
      if (plans.size === maxForms) plans.clear();
      plans.set(form, plan);
    }
    return plans.get(form);
  };

  return (context, given) => {
    const variables = isCompiled ? readVariables(given) : undefined;
    if (variables === undefined) return undefined;
    return planFor(variables.coerced)?.(new Execution(context, given, variables));
  };
}

/** What is made, or undefined where it can't be: on failure the fallback executor reports the error. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/**
 * The variables by which selections are skipped or included; undefined for a document with other
 * directives, with fragments that have variables of their own, or with a nullable variable where null is not allowed: whether it is null shows late.
 */
function conditionsOf(schema: GraphQLSchema, document: DocumentNode): string[] | undefined {
  let isSafe = true;
  // Of all operations, and before the visit: a fragment may stand ahead of what declares its variables.
  const nullable = new Set(
    document.definitions
      .flatMap((definition) =>
        definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
      )
      .filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE)
      .map(({ variable }) => variable.name.value),
  );
  const conditions = new Set<string>();
  const typeInfo = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Directive({ name }) {
        if (name.value !== 'skip' && name.value !== 'include') isSafe = false;
      },
      FragmentDefinition({ variableDefinitions = [] }) {
        if (variableDefinitions.length > 0) isSafe = false;
      },
      Variable({ name }, _key, parent) {
        if (parent && 'kind' in parent && parent.kind === Kind.VARIABLE_DEFINITION) return;
        if (typeInfo.getDirective()) conditions.add(name.value);
        if (nullable.has(name.value) && isNonNullType(typeInfo.getInputType())) isSafe = false;
      },
    }),
  );
  return isSafe ? [...conditions] : undefined;
}
