import type { GraphQLError } from 'graphql';
import { typedError } from '../../graphql/errors.ts';
import type { Deprecation, TypedError } from '../../graphql/result.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';

/** What executing an operation comes to. Without `data` none was executed. */
export interface EngineResult {
  readonly errors?: readonly GraphQLError[];
  readonly data?: Record<string, unknown> | null;
}

/** The result of an operation as its client sees it. */
export interface TypedResult extends Omit<EngineResult, 'errors'> {
  readonly errors?: readonly TypedError[];
  readonly extensions?: { readonly deprecations: readonly Deprecation[] };
}

/**
 * Gives every error of a result its typed form and the request's id, and records their codes. It is
 * the last to touch a result, so nothing unforeseen gets past it unmasked.
 */
export function typeResult(
  { errors: untyped, data }: EngineResult,
  record: RequestRecord,
  signal: AbortSignal,
  reportError: (error: unknown, requestId: string) => void,
): TypedResult {
  if (untyped === undefined) return { data: data ?? null };
  const { requestId } = record;
  const request = { requestId, signal };
  const report = (cause: unknown) => reportError(cause, requestId);
  const errors = untyped.map((error) => typedError(error, request, report));
  record.codes = errors.map(({ extensions }) => extensions.code);
  return data === undefined ? { errors } : { errors, data };
}
