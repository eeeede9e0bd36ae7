import type { Deprecation, ResultExtensions, TypedError } from '../graphql/result-types.ts';

export type { Deprecation, ResultExtensions, TypedError };

/** A parsed document with the types of its result and variables, as GraphQL Codegen writes it. */
export interface TypedDocument<Data, Variables> {
  readonly kind: string;
  readonly definitions: readonly object[];
  readonly __apiType?: (variables: Variables) => Data;
}

/** The caller of an operation in this process. */
export interface LocalCaller {
  /** The `Authorization` header to use, such as the one of the request that is being handled. */
  readonly authorization?: string | null | undefined;
  /** Cancels the REST calls when it is aborted; `AbortSignal.timeout` sets a deadline. */
  readonly signal?: AbortSignal | undefined;
  /** The time for all calls, in milliseconds, at most `UPSTREAM_TIMEOUT_MS`. Later fields time out. */
  readonly timeoutMs?: number | undefined;
  /** Identifies the request in the log, in errors and in REST calls; a new id by default. */
  readonly requestId?: string | null | undefined;
  /** Makes it safe to execute a mutation again: with the same key, each write is done once. */
  readonly idempotencyKey?: string | null | undefined;
  /** The trace to join (W3C Trace Context). */
  readonly traceparent?: string | null | undefined;
  /** The headers of the request; those in `FORWARD_HEADERS` are passed on to the REST service. */
  readonly headers?: Headers | Readonly<Record<string, string | undefined>> | undefined;
  /** Lists the REST calls in `extensions.calls`, if `EXPLAIN` is on. */
  readonly explain?: boolean | undefined;
}

/**
 * The result that an HTTP client would receive, as plain objects that belong to this caller. A number
 * that a double cannot represent is a string of its digits, in JSON of unpublished shape.
 */
export interface LocalResult<Data> {
  readonly errors?: readonly TypedError[];
  /** Absent if the operation was not executed. */
  readonly data?: Data | null;
  readonly extensions?: ResultExtensions;
}

/** Executes operations for callers in this process. */
export interface LocalExecution {
  /**
   * Executes an operation without HTTP, deferred fragments included. Limits, log, metrics and traces
   * are those of an HTTP request. It never rejects: failures are in `errors`.
   */
  execute<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
    caller?: LocalCaller,
  ): Promise<LocalResult<Data>>;
}

/** The function of `LocalExecution`. */
export type LocalExecute = LocalExecution['execute'];
