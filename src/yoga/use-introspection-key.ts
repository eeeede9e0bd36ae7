import { GraphQLError } from 'graphql';
import type { OperationPlugin } from './operation-context.ts';

/** Lists one pet before an introspection, so that the backend accepts the key, or its error is the result. */
export function useIntrospectionKey(): OperationPlugin {
  return {
    onExecute({ context: { petStore, operation }, setResultAndStopExecution }) {
      if (!operation?.needsKey) return undefined;
      return petStore.listPets({ limit: 1 }, '__schema').then(
        () => undefined,
        (originalError: Error) => {
          const error = new GraphQLError(originalError.message, { originalError });
          setResultAndStopExecution({ errors: [error] });
        },
      );
    },
  };
}
