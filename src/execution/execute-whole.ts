import {
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  validateExecutionArgs,
} from 'graphql';

/**
 * Executes an operation without `@defer` by graphql-js. Its own `execute` does the same, but refuses
 * every operation of a schema that has the directive.
 */
export function executeWhole(args: ExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
  const validated = validateExecutionArgs(args);
  return 'schema' in validated ? executeRootSelectionSet(validated) : { errors: validated };
}
