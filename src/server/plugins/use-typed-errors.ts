import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type FailedRequest, typedError } from '../../graphql/errors.ts';

/** Told of every error that nobody foresaw. */
export type ReportError = (error: unknown, requestId: string) => void;

/**
 * Gives every error of a result its typed form and the request's id. It is the last to touch a
 * result, so nothing that nobody foresaw gets past it unmasked.
 */
export function useTypedErrors(reportError: ReportError): Plugin<object, FailedRequest> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      setResult(typeErrors(result as ExecutionResult, serverContext, reportError));
    },
  };
}

/** The result with its errors typed; the same object when it has none. */
export function typeErrors(
  result: ExecutionResult,
  request: FailedRequest,
  reportError: ReportError,
): ExecutionResult {
  if (result.errors === undefined) return result;
  // Yoga drops the errors of a cancelled operation; an answer without data must have one.
  const errors =
    result.errors.length === 0 && result.data === undefined
      ? [new GraphQLError('Cancelled', { originalError: new Error('Cancelled') })]
      : result.errors;
  const report = (cause: unknown) => reportError(cause, request.requestId);
  return { ...result, errors: errors.map((error) => typedError(clarify(error), request, report)) };
}

/** What Yoga says of requests that it does not take, with what was expected instead. */
const clearer: ReadonlyMap<string, string> = new Map([
  ['Must provide query string.', 'query: expected the text of an operation, received none.'],
  [
    'GraphQL only supports GET and POST requests.',
    'Expected GET or POST, received another method.',
  ],
  [
    'Can only perform a mutation operation from a POST request.',
    'Expected POST for a mutation, received GET.',
  ],
  [
    'Could not determine what operation to execute.',
    'operationName: expected the name of an operation of the document, received none that is in it.',
  ],
]);

function clarify(error: GraphQLError): GraphQLError {
  const message = clearer.get(error.message);
  return message === undefined ? error : new GraphQLError(message, error);
}
