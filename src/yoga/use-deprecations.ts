import type { OperationPlugin } from './operation-context.ts';
import { addExtensions } from './result-hooks.ts';

/** Lists the deprecated fields of an operation in `extensions.deprecations`. */
export function useDeprecations(): OperationPlugin {
  const hooks = addExtensions(({ operation }, result) =>
    // Not if nothing was executed, and only in the first part.
    'data' in result ? { deprecations: operation?.deprecations } : undefined,
  );
  return {
    onExecute({ context: { report, operation } }) {
      if (operation === undefined || operation.deprecations.length === 0) return undefined;
      report.deprecatedFields = operation.deprecations.map(({ field }) => field);
      return hooks;
    },
  };
}
