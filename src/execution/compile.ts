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
 * Executes an operation that was compiled; undefined where that is for the reference executor: when
 * the variables can't be read, since clients know its words, and when they ask for introspection.
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
 * Compiles an operation of a valid document; undefined where compiled code would not answer exactly
 * as the reference executor does. That is introspection, directives of others than GraphQL itself,
 * and whatever may still fail when the variables have been read. The fields of Query and Mutation
 * may have resolvers; below them, a property is the value.
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

  /** The plan for the form that an operation has under these conditions. */
  const planFor = (variables: Conditions): Execute | undefined => {
    const form = conditions.map((name) => (variables[name] ? '1' : '0')).join('');
    if (!plans.has(form)) {
      const plan = attempt(() => planOperation(schema, document, operation, variables));
      if (plans.size === maxForms) plans.clear();
      plans.set(form, plan);
    }
    return plans.get(form);
  };

  return (context, variables) => {
    const values = readVariables(variables);
    return values && planFor(values.coerced)?.(context, values);
  };
}

/** What is made, or undefined where it can't be: whatever is wrong, the reference has words for it. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/**
 * The variables by which selections are skipped or included; undefined for a document with other
 * directives, or with a nullable variable where null is not allowed: whether it is null shows late.
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
      Variable({ name }, _key, parent) {
        if (parent && 'kind' in parent && parent.kind === Kind.VARIABLE_DEFINITION) return;
        if (typeInfo.getDirective()) conditions.add(name.value);
        if (nullable.has(name.value) && isNonNullType(typeInfo.getInputType())) isSafe = false;
      },
    }),
  );
  return isSafe ? [...conditions] : undefined;
}
