import { type GatewayError, isGatewayError } from './errors.ts';

/** When and how often a failed operation is repeated. */
export interface RetryOptions {
  /** The most attempts of one operation, including the first. Defaults to 3. */
  readonly maxAttempts?: number;
  /** The longest random delay before the second attempt, in milliseconds; doubles with each further attempt. Defaults to 250. */
  readonly baseDelayMs?: number;
  /** The longest delay, in milliseconds. What asks for a longer one is not repeated. Defaults to 10,000. */
  readonly maxDelayMs?: number;
}

/** An attempt that may have failed. Pass its `response`, or else its `networkError`, its `status` or both. */
export interface Attempt {
  /** If you do not know the kind, pass `mutation`. */
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** Whether all attempts have the same `Idempotency-Key`, with which the gateway does a write once. */
  readonly hasIdempotencyKey?: boolean;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The GraphQL response, whatever its HTTP status. */
  readonly response?: { readonly data?: unknown; readonly errors?: unknown };
  /** Why there is no GraphQL response. It does not say whether the request has arrived. */
  readonly networkError?: unknown;
  /** The HTTP status, if something else than a GraphQL response has arrived. */
  readonly status?: number | undefined;
  /** The caller's signal. What the caller has ended is not repeated. */
  readonly signal?: AbortSignal | null | undefined;
}

const transient = [
  'RATE_LIMITED',
  'OVERLOADED',
  'GATEWAY_CLOSED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
] as const;

/**
 * Returns the milliseconds to wait before the operation is sent again, or undefined if it must not
 * be, or need not be. A query, or a mutation with an `Idempotency-Key`, is repeated after a network error,
 * a proxy's 502, 503 or 504, or a transient error. Anything else is repeated only if every field failed
 * with a transient error whose `outcome` is `NOT_DONE`.
 */
export function retryDelay(
  { kind, hasIdempotencyKey, attempt, response, networkError, status, signal }: Attempt,
  options: RetryOptions = {},
  random: () => number = Math.random,
): number | undefined {
  const { maxAttempts = 3, baseDelayMs = 250, maxDelayMs = 10_000 } = options;
  if (attempt >= maxAttempts || signal?.aborted) return undefined;
  const errors = Array.isArray(response?.errors) ? response.errors : [];
  const failures = errors.filter(
    (error): boolean => isGatewayError(error, ...transient) && error.extensions.retryable !== false,
  );
  const isRepeatable =
    kind === 'query' || (kind === 'mutation' && hasIdempotencyKey)
      ? failures.length > 0 ||
        (response === undefined &&
          [undefined, 502, 503, 504].includes(status) &&
          !isAborted(networkError))
      : failures.length === errors.length && isRefused(response);
  if (!isRepeatable) return undefined;
  const waits = failures.map(({ extensions }) => Number(extensions.retryAfterMs) || 0);
  const retryAfterMs = Math.max(0, ...waits);
  if (retryAfterMs > maxDelayMs) return undefined;
  const jitter = random() * baseDelayMs * 2 ** (attempt - 1);
  return Math.min(retryAfterMs + jitter, maxDelayMs);
}

/** Whether the caller has ended the request, also with `AbortSignal.timeout`. */
function isAborted(networkError: unknown): boolean {
  return /^(?:Abort|Timeout)Error$/.test((networkError as Error | undefined)?.name ?? '');
}

/** Whether every field of a mutation failed, with whatever code, and was not done by this attempt. */
export function isRefused(response: Attempt['response'] | undefined): boolean {
  const errors: unknown[] = Array.isArray(response?.errors) ? response.errors : [];
  const isNotDone = (error: unknown) =>
    (error as Partial<GatewayError> | null)?.extensions?.outcome === 'NOT_DONE';
  // The value of `__typename` is no result.
  const isNoResult = (value: unknown) => value === null || value === 'Mutation';
  const results = Object.values(response?.data ?? {});
  return errors.length > 0 && errors.every(isNotDone) && results.every(isNoResult);
}
