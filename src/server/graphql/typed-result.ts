import type {
  ExperimentalIncrementalExecutionResults,
  GraphQLError,
  LegacyExperimentalIncrementalExecutionResults,
} from 'graphql';
import { typedError } from '../../graphql/errors.ts';
import type { Deprecation, TypedError } from '../../graphql/result.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';

/** What executing an operation comes to. Without `data` none was executed. */
export interface EngineResult {
  readonly errors?: readonly GraphQLError[];
  readonly data?: Record<string, unknown> | null;
}

/** What executing an operation with deferred fragments comes to. */
export type EngineParts =
  | ExperimentalIncrementalExecutionResults
  | LegacyExperimentalIncrementalExecutionResults;

/** The result of an operation as its client sees it. */
export interface TypedResult extends Omit<EngineResult, 'errors'> {
  readonly errors?: readonly TypedError[];
  readonly extensions?: { readonly deprecations: readonly Deprecation[] };
}

/** Whose errors are typed. */
export interface Typing {
  readonly record: RequestRecord;
  /** Aborted when the caller has disconnected, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Called with every error that no code foresaw, and the id of its request. */
  readonly reportError: (error: unknown, requestId: string) => void;
}

/** Gives every error of a result its typed form. */
export function typeResult({ errors, data }: EngineResult, typing: Typing): TypedResult {
  if (errors === undefined) return { data: data ?? null };
  const typed = typeErrors(errors, typing);
  return data === undefined ? { errors: typed } : { errors: typed, data };
}

/**
 * Gives errors their typed form and the request's id, and records their codes. It is the last to
 * touch an error, so nothing unforeseen gets past it unmasked.
 */
export function typeErrors(
  errors: readonly GraphQLError[],
  { record, signal, reportError }: Typing,
): readonly TypedError[] {
  const { requestId } = record;
  const report = (cause: unknown) => reportError(cause, requestId);
  const typed = errors.map((error) => typedError(error, { requestId, signal }, report));
  record.codes = [...record.codes, ...typed.map(({ extensions }) => extensions.code)];
  return typed;
}
