import type { OperationPlugin } from './operation-context.ts';
import { addExtensions } from './result-hooks.ts';

/** Lists the REST calls of an operation in `extensions.calls`, if its caller asks for them. */
export function useExplain(): OperationPlugin {
  const hooks = addExtensions(({ petStore }, result) =>
    'data' in result || 'hasNext' in result ? { calls: petStore.explained?.list() } : undefined,
  );
  return {
    onExecute({ context: { petStore, report } }) {
      report.explained = petStore.explained;
      return petStore.explained ? hooks : undefined;
    },
  };
}
