/** Retrying with urql. */
import { type Exchange, makeOperation, type Operation } from '@urql/core';
import {
  filter,
  fromArray,
  interval,
  makeSubject,
  map,
  merge,
  mergeMap,
  pipe,
  take,
  takeUntil,
} from 'wonka';
import { createIdempotencyKey } from './idempotency-key.ts';
import { isRefused, type RetryOptions, retryDelay } from './retry.ts';

/**
 * Creates an exchange that repeats failed operations as `retryDelay` says. A mutation gets an
 * `Idempotency-Key`, unless its `fetchOptions` have one. Put it before the `fetchExchange`.
 */
export function createRetryExchange(options?: RetryOptions): Exchange {
  return ({ forward }) =>
    (operations) => {
      const { source: failed, next: repeat } = makeSubject<Operation>();
      const first = pipe(
        operations,
        map((operation) =>
          withRetry(operation.kind === 'mutation' ? withKey(operation) : operation, { attempt: 1 }),
        ),
      );
      const repeated = pipe(
        failed,
        mergeMap((operation) => {
          // Ends when the operation is torn down, or the query is sent anew.
          const replaced = filter(
            ({ kind, key }: Operation) => kind !== 'mutation' && key === operation.key,
          );
          // Ends a response in parts. Mutations in flight may share a key.
          const ended = operation.kind === 'query' ? [makeOperation('teardown', operation)] : [];
          return pipe(
            // Unlike that of `delay`, its timer ends with it.
            interval(operation.context['retry'].delayMs),
            take(1),
            mergeMap(() => fromArray([...ended, operation])),
            takeUntil(replaced(operations)),
          );
        }),
      );
      return pipe(
        merge([first, repeated]),
        forward,
        map((result) => {
          const { operation, data, error, hasNext } = result;
          const { kind, context } = operation;
          const { retry } = context;
          // A further part of an attempt that is repeated.
          if (retry.isRepeated) return undefined;
          const networkError = error?.networkError;
          const { ok = true, status } = error?.response ?? {};
          const response = { data, errors: error?.graphQLErrors };
          // A refusal does not say what became of an earlier attempt.
          const last = isRefused(response) ? retry.last : result;
          const delayMs = retryDelay(
            {
              kind: kind === 'query' ? 'query' : 'mutation',
              hasIdempotencyKey: kind === 'mutation',
              attempt: retry.attempt,
              ...(networkError
                ? // A response that was cut off is `ok`.
                  { networkError, status: ok ? undefined : status }
                : { response }),
            },
            options,
          );
          if (delayMs !== undefined) {
            retry.isRepeated = true;
            // Its further parts are dropped.
            const kept = kind === 'mutation' && last ? { ...last, hasNext: false } : undefined;
            repeat(withRetry(operation, { attempt: retry.attempt + 1, delayMs, last: kept }));
            return undefined;
          }
          // The parts that follow belong to a result that was passed on.
          if (hasNext) retry.attempt = Number.POSITIVE_INFINITY;
          return last ?? result;
        }),
        filter((result) => result !== undefined),
      );
    };
}

function withRetry(operation: Operation, retry: object): Operation {
  return makeOperation(operation.kind, operation, { ...operation.context, retry });
}

/** Adds an `Idempotency-Key`, unless the operation has one. All attempts keep it. */
function withKey(operation: Operation): Operation {
  const { fetchOptions } = operation.context;
  const given = typeof fetchOptions === 'function' ? fetchOptions() : fetchOptions;
  const headers = new Headers(given?.headers);
  if (!headers.has('idempotency-key')) headers.set('idempotency-key', createIdempotencyKey());
  return makeOperation(operation.kind, operation, {
    ...operation.context,
    fetchOptions: { ...given, headers },
  });
}
