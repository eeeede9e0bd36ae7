import {
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  validateExecutionArgs,
} from 'graphql';

/**
 * The fallback executor: executes an operation without `@defer` with graphql-js. The `execute` of
 * graphql-js rejects every operation if the schema defines `@defer`.
 */
export function executeFallback(args: ExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
  const validated = validateExecutionArgs(args);
  return 'schema' in validated ? executeRootSelectionSet(validated) : { errors: validated };
}
