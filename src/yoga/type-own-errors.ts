import type { GraphQLError } from 'graphql';
import { isAsyncIterable, mapAsyncIterator } from 'graphql-yoga';
import { type FailedRequest, typeOwnError } from '../graphql/errors.ts';

/** A result, a part of one, or an entry of a part. */
interface Failable {
  readonly errors?: readonly GraphQLError[];
  readonly incremental?: readonly Failable[];
  readonly completed?: readonly Failable[];
}

/** Types the errors of a result or a part, and of the entries of a part. */
export function typeEach<Typed>(
  { incremental, completed, ...rest }: Failable,
  type: (one: Failable) => Typed,
) {
  return {
    ...type(rest),
    ...(incremental && { incremental: incremental.map(type) }),
    ...(completed && { completed: completed.map(type) }),
  };
}

/** Types the errors of the pet store in a result, or in each of its parts, and calls `onEnd` at its end. */
export function typeOwnErrors<Result>(
  result: Result,
  request: FailedRequest,
  onEnd?: () => void,
): Result {
  const type = ({ errors, ...rest }: Failable): Failable =>
    errors ? { ...rest, errors: errors.map((error) => typeOwnError(error, request)) } : rest;
  if (!isAsyncIterable<Failable>(result)) {
    onEnd?.();
    return typeEach(result as Failable, type) as Result;
  }
  const fail = (error: Error) => Promise.reject(error).finally(onEnd);
  return mapAsyncIterator(result, (part) => typeEach(part, type), fail, onEnd) as Result;
}
