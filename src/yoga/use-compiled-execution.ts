import type { OperationPlugin } from './operation-context.ts';

/** Executes operations with the code that was compiled for them, or with graphql-js. */
export function useCompiledExecution(): OperationPlugin {
  return {
    onExecute({ context: { operation }, setExecuteFn }) {
      if (operation !== undefined) setExecuteFn(operation.execute);
    },
  };
}
