import type { Caller } from './caller.ts';
import { BackendTimeoutError } from './error.ts';
import { serviceName } from './service-name.ts';

/**
 * Rejects when the caller leaves or its deadline passes. A query that was sent goes on, and until it ends
 * the caller keeps its place among the requests in flight.
 * @param mayBeDone whether a write has been sent, whose outcome then is unknown
 */
export function untilDeadline<T>(caller: Caller, mayBeDone: () => boolean, work: Promise<T>) {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const leave = () => {
    caller.holdUntil(work);
    reject(mayBeDone() ? lateError(true) : caller.cancelled);
  };
  if (caller.cancelled) leave();
  else caller.whenCancelled(leave);
  work.then(resolve, reject);
  return promise;
}

/** Creates the error of a call that did not end in time, and may have been done if it is a write. */
export function lateError(isWrite: boolean): BackendTimeoutError {
  const writeOutcome = isWrite ? 'UNKNOWN' : 'NOT_DONE';
  return new BackendTimeoutError(`The ${serviceName} did not respond in time.`, { writeOutcome });
}
