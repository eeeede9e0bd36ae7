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
  return { ...result, errors: errors.map((error) => typedError(error, request, report)) };
}
