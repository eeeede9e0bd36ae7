import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { typedError } from '../../graphql/errors.ts';

/**
 * Gives every error of a result its typed form and the request's id. It is the last to touch a
 * result, so nothing that nobody foresaw gets past it unmasked.
 */
export function useTypedErrors(
  reportError: (error: unknown, requestId: string) => void,
): Plugin<object, { readonly requestId: string }> {
  return {
    onResultProcess({ request, result, setResult, serverContext: { requestId } }) {
      if (!('errors' in result) || result.errors === undefined) return;
      // Yoga drops the errors of a cancelled operation; an answer without data must have one.
      const errors =
        result.errors.length === 0 && result.data === undefined
          ? [new GraphQLError('Cancelled', { originalError: new Error('Cancelled') })]
          : result.errors;
      const report = (cause: unknown) => {
        // What fails because the client left is nobody's fault.
        if (!request.signal.aborted) reportError(cause, requestId);
      };
      const typed = errors.map((error) => typedError(error, requestId, report));
      setResult({ ...result, errors: typed });
    },
  };
}
