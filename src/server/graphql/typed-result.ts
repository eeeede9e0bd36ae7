import { type TypedError, typedError } from '../../graphql/errors.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { EngineResult } from './engine.ts';

/** The result of an operation, its errors as clients see them. Without `data` none was executed. */
export interface TypedResult extends Omit<EngineResult, 'errors'> {
  readonly errors?: readonly TypedError[];
}

/**
 * Gives every error of a result its typed form and the request's id, and records their codes. It is
 * the last to touch a result, so nothing unforeseen gets past it unmasked.
 */
export function typeResult(
  { errors: untyped, ...rest }: EngineResult,
  record: RequestRecord,
  signal: AbortSignal,
  reportError: (error: unknown, requestId: string) => void,
): TypedResult {
  if (rest.extensions !== undefined) {
    record.deprecatedFields = rest.extensions.deprecations.map(({ field }) => field);
  }
  if (untyped === undefined) return rest;
  const { requestId } = record;
  const request = { requestId, signal };
  const report = (cause: unknown) => reportError(cause, requestId);
  const errors = untyped.map((error) => typedError(error, request, report));
  record.codes = errors.map(({ extensions }) => extensions.code);
  return { errors, ...rest };
}
