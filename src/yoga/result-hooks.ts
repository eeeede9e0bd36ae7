import type { ExecutionResult } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import type { OperationContext, OperationPlugin } from './operation-context.ts';

/** What `onExecute` returns: the hooks on the result of an operation. */
export type ResultHooks = Exclude<
  Awaited<ReturnType<NonNullable<OperationPlugin['onExecute']>>>,
  void
>;

/** Returns the hooks that add extensions to a result, or to each part of one; undefined for none. */
export function addExtensions(
  extensionsOf: (context: OperationContext, result: ExecutionResult) => object | undefined,
): ResultHooks {
  function add(
    result: ExecutionResult,
    context: OperationContext,
    setResult: (result: ExecutionResult) => void,
  ): void {
    const added = extensionsOf(context, result);
    if (added) setResult({ ...result, extensions: { ...result.extensions, ...added } });
  }

  return {
    onExecuteDone({ args, result, setResult }) {
      if (!isAsyncIterable(result)) {
        add(result, args.contextValue, setResult);
        return undefined;
      }
      return { onNext: (next) => add(next.result, next.args.contextValue, next.setResult) };
    },
  };
}
