import type { Deprecation, TypedError } from '../graphql/result.ts';

/** A parsed document with the types of its result and its variables, as GraphQL Codegen makes it. */
export interface TypedDocument<Data, Variables> {
  readonly kind: string;
  readonly definitions: readonly object[];
  readonly __apiType?: (variables: Variables) => Data;
}

/** On whose behalf a caller in this process asks. */
export interface LocalCaller {
  /** The `Authorization` header of its own request. */
  readonly authorization?: string | null | undefined;
  /** Ends the REST calls when it is aborted; `AbortSignal.timeout` sets a deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Names the request in the log, in errors and towards the REST service; a new id by default. */
  readonly requestId?: string | null | undefined;
  /** The trace to join (W3C Trace Context). */
  readonly traceparent?: string | null | undefined;
}

/** A result as a client of the HTTP address sees it, but as objects. */
export interface LocalResult<Data> {
  readonly errors?: readonly TypedError[];
  /** Absent when nothing was executed. */
  readonly data?: Data | null;
  readonly extensions?: { readonly deprecations: readonly Deprecation[] };
}

/**
 * Executes an operation for a caller in this process, with every limit and record of an HTTP request
 * but without its messages. Never rejects: what goes wrong is in `errors`.
 */
export type LocalExecute = <Data = Record<string, unknown>, Variables = Record<string, unknown>>(
  document: string | TypedDocument<Data, Variables>,
  variables?: Variables,
  caller?: LocalCaller,
) => Promise<LocalResult<Data>>;

/** A result as far as it has come. */
export interface LocalPartialResult<Data> extends LocalResult<Data> {
  /** Whether more follows. */
  readonly hasNext: boolean;
}

/**
 * The same for operations that defer fragments: yields what there is, again each time that fragments
 * have come. Starts when it is first read, and cancels its REST calls when the reader stops early.
 */
export type LocalExecuteIncrementally = <
  Data = Record<string, unknown>,
  Variables = Record<string, unknown>,
>(
  document: string | TypedDocument<Data, Variables>,
  variables?: Variables,
  caller?: LocalCaller,
) => AsyncGenerator<LocalPartialResult<Data>, void>;

/** How callers in this process execute operations. */
export interface LocalExecution {
  readonly execute: LocalExecute;
  readonly executeIncrementally: LocalExecuteIncrementally;
}
