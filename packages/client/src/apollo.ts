/** Retrying with Apollo Client. */
import { ApolloLink } from '@apollo/client';
import { defer, fromEvent, map, NEVER, race, retry, throwError, timer } from 'rxjs';
import { type Attempt, type RetryOptions, retryDelay } from './retry.ts';

/** Creates a link that repeats failed operations as `retryDelay` says. Put it before the `HttpLink`. */
export function createRetryLink(options?: RetryOptions): ApolloLink {
  return new ApolloLink((operation, forward) => {
    let attempt = 0;
    let delayMs: number | undefined;
    const signal: AbortSignal | undefined = operation.getContext()['fetchOptions']?.signal;
    const delayAfter = (failure: Partial<Attempt>) =>
      retryDelay({ kind: operation.operationType, attempt, signal, ...failure }, options);
    return defer(() => {
      attempt++;
      delayMs = undefined;
      return forward(operation);
    }).pipe(
      map((response) => {
        delayMs = delayAfter({ response });
        if (delayMs !== undefined) throw response;
        // The parts that follow belong to a result that was passed on.
        attempt = Number.POSITIVE_INFINITY;
        return response;
      }),
      retry({
        delay(error) {
          delayMs ??= delayAfter({ networkError: error, status: error?.statusCode });
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
