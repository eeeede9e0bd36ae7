import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type CompiledOperation, compileOperation } from '../../execution/compile.ts';

/** Executes a document that is used again by code compiled for it, where that answers the same. */
export function useCompiledExecution(): Plugin {
  const compiled = new WeakMap<DocumentNode, Map<string, CompiledOperation | undefined>>();

  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const { schema, document, operationName } = args;
      const name = operationName ?? '';
      let byName = compiled.get(document);
      if (byName === undefined) {
        byName = new Map();
        compiled.set(document, byName);
        // Compiling costs more than executing once: a document earns it by being used again.
        return;
      }
      if (!byName.has(name)) {
        byName.set(name, compileOperation(schema, document, operationName ?? undefined));
      }
      const run = byName.get(name);
      if (run === undefined) return;
      setExecuteFn(
        (executeArgs) =>
          run(executeArgs.contextValue, executeArgs.variableValues ?? {}) ?? executeFn(executeArgs),
      );
    },
  };
}
