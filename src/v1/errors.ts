import { type ErrorBody, isShown, PetStoreError } from '../contract/error.ts';
import type { BodyParts, HttpResponse } from '../http/http-message.ts';

/** Returns the Error body for an error. An unexpected error becomes a 500 without details. */
export function toErrorBody(error: unknown): ErrorBody {
  if (isShown(error)) return error.errorBody;
  const message = 'An internal error occurred. Try again later.';
  return { code: 'internal_error', message, status: 500 };
}

/** Returns how the service itself fails with a demo key: with other text than JSON, or by closing the connection. */
export function toStagedResponse(error: unknown, status: number): HttpResponse | undefined {
  if (!(error instanceof PetStoreError && error.isStaged)) return undefined;
  const headers = { 'content-type': 'application/json' };
  if (error.code === 'UPSTREAM_INVALID_RESPONSE') return { status, headers, body: '{"id":' };
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
  const { retryAfterMs } = error as Partial<PetStoreError>;
  return retryAfterMs === undefined ? {} : { 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` };
}
