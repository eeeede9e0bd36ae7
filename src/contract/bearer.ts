import { UnauthenticatedError } from './error.ts';

/** `Bearer` and a b64token (RFC 6750, section 2.1); the scheme is case-insensitive (RFC 9110). */
const bearer = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Reads the API key from an `Authorization` header, and returns both.
 * @throws UnauthenticatedError if the header is missing, malformed or duplicated.
 */
export function readBearer(authorization: string | null | undefined) {
  if (!authorization) {
    throw new UnauthenticatedError(
      'An API key is required: send the header "Authorization: Bearer <API key>".',
    );
  }
  const apiKey = bearer.exec(authorization)?.[1];
  if (apiKey === undefined) {
    throw new UnauthenticatedError(
      'The Authorization header is malformed: expected exactly one "Bearer <API key>" with the characters A-Z a-z 0-9 . _ ~ + / - =.',
    );
  }
  return { apiKey, authorization };
}
