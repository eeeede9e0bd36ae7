import type { DocumentNode, ExecutionResult } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';

/**
 * Executes a document that is used again by code compiled for it. Where that code can't read the
 * variables, or a document can't be compiled, the reference executor answers: its words are the
 * ones that clients know.
 */
export function useCompiledExecution(): Plugin {
  const compiled = new WeakMap<DocumentNode, Map<string, CompiledQuery | undefined>>();

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
        const result = compileQuery(schema, document, operationName ?? undefined);
        byName.set(name, isCompiledQuery(result) ? (result as CompiledQuery) : undefined);
      }
      const query = byName.get(name)?.query;
      if (query === undefined) return;
      setExecuteFn((executeArgs) => {
        const { rootValue, contextValue, variableValues } = executeArgs;
        const answer = query(rootValue, contextValue, variableValues ?? {});
        return isUnread(answer) ? executeFn(executeArgs) : answer;
      });
    },
  };
}

/** Only variables that can't be read end an operation before it begins, without a promise. */
function isUnread(answer: ExecutionResult | Promise<ExecutionResult>): boolean {
  return !('then' in answer) && answer.data === undefined;
}
