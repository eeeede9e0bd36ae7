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
import { planVariables } from './inputs.ts';
import { type Conditions, type Execute, planOperation } from './plan.ts';

/**
 * Executes a compiled operation. Returns undefined if the fallback executor has to execute it: if a
 * variable is invalid, because the fallback executor reports the error; and if the variables include
 * a selection that cannot be compiled.
 */
export type CompiledOperation = (
  context: object,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult> | undefined;

/** An operation with more conditions has too many variants. */
const maxConditions = 4;

/** Cached variants per operation. Compiling one again takes less than a millisecond. */
const maxVariants = 2;

/**
 * Compiles an operation of a document that is valid for the schema. Returns undefined if the result
 * could differ from that of graphql-js: for subscriptions, introspection, directives other than
 * `@skip` and `@include`, resolvers below the root, and anything else that can fail after the
 * variables were read. Root resolvers take no `info`; they return records, lists of records, JSON
 * text or null, whose properties are values of their types or an Error, or a promise of these.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): CompiledOperation | undefined {
  const operation = getOperationAST(document, operationName);
  if (!operation || operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;
  const conditions = conditionsOf(schema, document);
  if (conditions === undefined || conditions.length > maxConditions) return undefined;
  const definitions = operation.variableDefinitions ?? [];
  const readVariables = attempt(() => planVariables(schema, definitions));
  if (readVariables === undefined) return undefined;
  const plans = new Map<string, Execute | undefined>();

  /** Returns the plan for the variant with these conditions. */
  const planFor = (variables: Conditions): Execute | undefined => {
    const variant = conditions.map((name) => (variables[name] ? '1' : '0')).join('');
    if (!plans.has(variant)) {
      const plan = attempt(() => planOperation(schema, document, operation, variables));
      if (plans.size === maxVariants) plans.clear();
      plans.set(variant, plan);
    }
    return plans.get(variant);
  };

  return (context, rawVariables) => {
    const variables = readVariables(rawVariables);
    return variables && planFor(variables.coerced)?.(context, variables);
  };
}

/** Returns undefined if `make` throws; the fallback executor then reports the error. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/**
 * Returns the variables that `@skip` and `@include` use. Returns undefined for a document with
 * other directives, or with a nullable variable in a non-null position, which can fail during
 * execution.
 */
function conditionsOf(schema: GraphQLSchema, document: DocumentNode): string[] | undefined {
  let isSafe = true;
  // Collected first, because a fragment may precede the operation that declares its variables.
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
      Variable({ name }, _key, parent) {
        if (parent && 'kind' in parent && parent.kind === Kind.VARIABLE_DEFINITION) return;
        if (typeInfo.getDirective()) conditions.add(name.value);
        if (nullable.has(name.value) && isNonNullType(typeInfo.getInputType())) isSafe = false;
      },
    }),
  );
  return isSafe ? [...conditions] : undefined;
}
