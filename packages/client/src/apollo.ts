/** Retrying with Apollo Client. */
import { ApolloLink } from '@apollo/client';
import { defer, fromEvent, map, NEVER, race, retry, throwError, timer } from 'rxjs';
import { createIdempotencyKey } from './idempotency-key.ts';
import { type Attempt, isRefused, type RetryOptions, retryDelay } from './retry.ts';

/**
 * Creates a link that repeats failed operations as `retryDelay` says. A mutation gets an
 * `Idempotency-Key`, unless its context has one. Put the link before the `HttpLink`.
 */
export function createRetryLink(options?: RetryOptions): ApolloLink {
  return new ApolloLink((operation, forward) => {
    let attempt = 0;
    let delayMs: number | undefined;
    const signal: AbortSignal | undefined = operation.getContext()['fetchOptions']?.signal;
    const kind = operation.operationType;
    if (kind === 'mutation') {
      operation.setContext(({ headers }) => ({ headers: withKey(headers) }));
    }
    /** Ends as the last attempt that was not refused: a later refusal does not say what became of it. */
    let end: (() => ApolloLink.Result) | undefined;
    const delayAfter = (failure: Partial<Attempt>) =>
      retryDelay({ kind, hasIdempotencyKey: true, attempt, signal, ...failure }, options);
    return defer(() => {
      attempt++;
      delayMs = undefined;
      return forward(operation);
    }).pipe(
      map((response) => {
        delayMs = delayAfter({ response });
        // The further parts of an attempt that is repeated are dropped.
        const kept = delayMs === undefined ? response : { ...response, hasNext: false };
        if (kind !== 'mutation' || !isRefused(response)) end = () => kept;
        if (delayMs !== undefined) throw response;
        // The parts that follow belong to a result that was passed on.
        attempt = Number.POSITIVE_INFINITY;
        return end?.() ?? response;
      }),
      retry({
        delay(error) {
          if (delayMs === undefined) {
            delayMs = delayAfter({ networkError: error, status: error?.statusCode });
            end = () => {
              throw error;
            };
          }
          if (delayMs === undefined) return throwError(() => error);
          const aborted = signal ? fromEvent(signal, 'abort') : NEVER;
          return race(timer(delayMs), aborted).pipe(
            map(() => {
              // HttpLink would send the request.
              if (signal?.aborted) throw signal.reason;
            }),
          );
        },
      }),
    );
  });
}

/** Adds an `Idempotency-Key` to the headers of a mutation, unless they have one. */
function withKey(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');
  return hasKey ? headers : { ...headers, 'idempotency-key': createIdempotencyKey() };
}
