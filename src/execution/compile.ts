import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { conditionsOf, type VariableValues } from './field-collector.ts';
import { type Execute, planOperation } from './plan.ts';

/**
 * Executes a compiled operation. Returns undefined if the fallback executor has to execute it: if
 * the variables are invalid, because the fallback executor reports the errors; and if they include a
 * selection that cannot be compiled.
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
 * Compiles an operation of a document that is valid for the gateway's schema and has no `@defer`.
 * Its result is that of graphql-js. Returns undefined for an operation with too many conditions.
 *
 * Compiled code relies on what is true of this schema: root fields are nullable, and their
 * resolvers use only `path.key` of `info` and return records, lists of records or JSON text, or
 * reject; below the root there are no resolvers.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): CompiledOperation | undefined {
  const operation = getOperationAST(document, operationName);
  const conditions = conditionsOf(document);
  if (!operation || conditions.length > maxConditions) return undefined;
  const definitions = operation.variableDefinitions ?? [];
  const plans = new Map<string, Execute | undefined>();

  return (context, given) => {
    const { variableValues } = getVariableValues(schema, definitions, given, errorOptions);
    if (variableValues === undefined) return undefined;
    const variant = conditions.map((name) => variableValues.coerced[name]).join();
    if (!plans.has(variant)) {
      if (plans.size === maxVariants) plans.clear();
      plans.set(variant, plan(variableValues));
    }
    return plans.get(variant)?.(context, variableValues);
  };

  function plan(variables: VariableValues): Execute | undefined {
    try {
      return planOperation(schema, document, operation as OperationDefinitionNode, variables);
    } catch {
      return undefined;
    }
  }
}

/** The errors are not read, and each quotes the whole value. */
const errorOptions = { maxErrors: 1, hideSuggestions: true };
