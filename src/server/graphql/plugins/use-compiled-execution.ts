import { type DocumentNode, execute } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type CompiledOperation, compileOperation } from '../../../execution/compile.ts';

/**
 * Executes a document that is used again by code compiled for it, where that answers the same. The
 * fallback executor is graphql-js; Yoga's own rounds large integers in defaults of variables.
 */
export function useCompiledExecution(): Plugin {
  const compiled = new WeakMap<DocumentNode, Map<string, CompiledOperation | undefined>>();

  /** The compiled form of the operation that is asked for, or undefined. */
  function findCompiled({ schema, document, operationName }: Parameters<typeof execute>[0]) {
    const name = operationName ?? '';
    let byName = compiled.get(document);
    if (byName === undefined) {
      // Compiling costs more than executing once: a document earns it by being used again.
      byName = new Map();
      compiled.set(document, byName);
      return undefined;
    }
    if (!byName.has(name)) {
      byName.set(name, compileOperation(schema, document, operationName ?? undefined));
    }
    return byName.get(name);
  }

  return {
    onExecute({ args, setExecuteFn }) {
      const run = findCompiled(args);
      setExecuteFn(
        run
          ? (given) => run(given.contextValue, given.variableValues ?? {}) ?? execute(given)
          : execute,
      );
    },
  };
}
