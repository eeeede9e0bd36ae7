import { UnauthenticatedError } from './error.ts';

/** `Bearer` and a b64token (RFC 6750, section 2.1); the scheme is case-insensitive (RFC 9110). */
const bearer = /^Bearer +[A-Za-z0-9._~+/-]+=*$/i;

/** Returns a header with a bearer token. @throws UnauthenticatedError for any other, or none. */
export function readBearer(authorization: string | null | undefined): string {
  if (!authorization) {
    throw new UnauthenticatedError(
      'An API key is required: send the header "Authorization: Bearer <API key>".',
    );
  }
  if (bearer.test(authorization)) return authorization;
  throw new UnauthenticatedError(
    'The Authorization header is malformed: expected exactly one "Bearer <API key>" with the characters A-Z a-z 0-9 . _ ~ + / - =.',
  );
}

/** Minimum length of a key to redact. A shorter key is no secret and may match any word. */
const minKeyLength = 8;

/** Redacts the caller's key in a text of the service. The key in another encoding is not found. */
export function redactKey(text: string, apiKey: string): string {
  return apiKey.length < minKeyLength ? text : text.replaceAll(apiKey, '[API key]');
}
