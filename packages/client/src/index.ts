/** Typed documents and typed errors for clients of the gateway, without server code. */
import { GetPetDocument as getPet } from './documents.ts';

export * from './documents.ts';
export * from './errors.ts';
export { createIdempotencyKey } from './idempotency-key.ts';
export { parseJson } from './parse-json.ts';
export { persistedHash } from './persisted-hash.ts';
export { type RateLimit, readRateLimit } from './rate-limit.ts';
export { type Attempt, type RetryOptions, retryDelay } from './retry.ts';
export { createRetryFetch, type RetryFetchOptions } from './retry-fetch.ts';
export type { TypedDocumentNode } from './typed-document-node.ts';

/** @deprecated The field `pet` is removed on 5 December 2030. Use `ListPetsDocument` with a `status`. */
export const GetPetDocument = getPet;
