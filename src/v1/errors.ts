import {
  BackendTimeoutError,
  BackendUnavailableError,
  CancelledError,
  type ErrorBody,
  ErrorResponse,
  IdempotencyKeyReusedError,
  InvalidInputError,
  InvalidResponseError,
  UnauthenticatedError,
} from '../contract/error.ts';
import type { BodyParts, HttpResponse } from '../http/http-message.ts';

/**
 * Returns the Error body for an error. The contract does not specify codes, so these are our own. An
 * unexpected error becomes a 500 without details.
 */
export function toErrorBody(error: unknown): ErrorBody {
  if (error instanceof ErrorResponse && error.body && error.status >= 400 && error.status < 600) {
    return { ...error.body, status: error.status };
  }
  if (error instanceof InvalidInputError) return body(400, 'invalid_value', error.message);
  if (error instanceof IdempotencyKeyReusedError) {
    return body(422, 'idempotency_key_reused', error.message);
  }
  if (error instanceof UnauthenticatedError) return body(401, 'unauthenticated', error.message);
  if (error instanceof ErrorResponse || error instanceof InvalidResponseError) {
    return body(502, 'bad_gateway', 'The upstream service returned an invalid response.');
  }
  if (error instanceof CancelledError) return body(503, 'cancelled', error.message);
  if (error instanceof BackendUnavailableError) return body(503, 'unavailable', error.message);
  if (error instanceof BackendTimeoutError) return body(504, 'timeout', error.message);
  return body(500, 'internal_error', 'An internal error occurred. Try again later.');
}

/** Returns how the service itself fails with a demo key: with other text than JSON, or by closing the connection. */
export function toStagedResponse(error: unknown, status: number): HttpResponse | undefined {
  const { isStaged } = error as Partial<BackendUnavailableError>;
  if (!isStaged) return undefined;
  const headers = { 'content-type': 'application/json' };
  if (error instanceof InvalidResponseError) return { status, headers, body: '{"id":' };
  const parts: BodyParts = {
    [Symbol.asyncIterator]: () => parts,
    // Nothing was written before.
    next: () => Promise.reject(error),
    return: async () => ({ value: undefined, done: true }),
    end() {},
  };
  return { status: 503, headers, body: '', parts };
}

/** Returns the `Retry-After` header (RFC 9110, section 10.2.3) for an error that has one. */
export function retryAfterOf(error: unknown): Readonly<Record<string, string>> {
  const { retryAfterMs } = error as Partial<ErrorResponse>;
  return retryAfterMs === undefined ? {} : { 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` };
}

function body(status: number, code: string, message: string): ErrorBody {
  return { code, message, status };
}
