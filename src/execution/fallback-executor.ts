import {
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  validateExecutionArgs,
} from 'graphql';
import type { VariableValues } from './inputs.ts';

/**
 * The fallback executor: executes an operation without `@defer` with graphql-js. The `execute` of
 * graphql-js rejects every operation if the schema defines `@defer`.
 */
export function executeFallback(
  args: ExecutionArgs,
  /** The coerced variables, if resolvers of this execution have already received them. */
  coerced?: VariableValues,
): ExecutionResult | Promise<ExecutionResult> {
  const validated = validateExecutionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  return executeRootSelectionSet(
    coerced === undefined ? validated : { ...validated, variableValues: coerced },
  );
}
