import {
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  validateExecutionArgs,
} from 'graphql';
import type { VariableValues } from './inputs.ts';

/**
 * Executes an operation without `@defer` by graphql-js. Its own `execute` does the same, but refuses
 * every operation of a schema that has the directive.
 */
export function executeWhole(
  args: ExecutionArgs,
  /** The coerced variables, if the resolvers of this execution have received them already. */
  coerced?: VariableValues,
): ExecutionResult | Promise<ExecutionResult> {
  const validated = validateExecutionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  return executeRootSelectionSet(
    coerced === undefined ? validated : { ...validated, variableValues: coerced },
  );
}
