import type {
  ExperimentalIncrementalExecutionResults,
  GraphQLError,
  LegacyExperimentalIncrementalExecutionResults,
} from 'graphql';
import { typedError } from '../../graphql/errors.ts';
import type { Deprecation, TypedError } from '../../graphql/result.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';

/**
 * The result of graphql-js or of compiled code. It has no `data` if the operation was not executed.
 */
export interface EngineResult {
  readonly errors?: readonly GraphQLError[];
  readonly data?: Record<string, unknown> | null;
}

/** The result of an operation with deferred fragments, from graphql-js. */
export type EngineParts =
  | ExperimentalIncrementalExecutionResults
  | LegacyExperimentalIncrementalExecutionResults;

/** The result of an operation as the client receives it. */
export interface TypedResult extends Omit<EngineResult, 'errors'> {
  readonly errors?: readonly TypedError[];
  readonly extensions?: { readonly deprecations: readonly Deprecation[] };
}

/** The request whose errors are typed. */
export interface TypingContext {
  readonly record: RequestRecord;
  /** Called with every unexpected error and the id of its request. */
  readonly reportError: (error: unknown, requestId: string) => void;
}

/** Converts the errors of a result with `typeErrors`. */
export function typeResult({ errors, data }: EngineResult, context: TypingContext): TypedResult {
  if (errors === undefined) return { data: data ?? null };
  const typed = typeErrors(errors, context);
  return data === undefined ? { errors: typed } : { errors: typed, data };
}

/**
 * Gives each error its code and the request's id, and records the codes. All errors pass through
 * here last, so no unexpected error reaches the client unmasked.
 */
export function typeErrors(
  errors: readonly GraphQLError[],
  { record, reportError }: TypingContext,
): readonly TypedError[] {
  const { requestId } = record;
  const report = (cause: unknown) => reportError(cause, requestId);
  const typed = errors.map((error) => typedError(error, record, report));
  record.codes = [...record.codes, ...typed.map(({ extensions }) => extensions.code)];
  return typed;
}
