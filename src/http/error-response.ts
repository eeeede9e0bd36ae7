import type { ErrorBody } from '../contract/error.ts';
import type { HttpError } from './error.ts';
import type { HttpResponse } from './http-message.ts';

/** Formats an error as an Error body (contract, "Error"), for all other paths. */
export function restErrorResponse({ status, code, message, headers }: HttpError): HttpResponse {
  return errorBodyResponse({ code: code.toLowerCase(), message, status }, headers);
}

/** Returns a response with an Error body; the challenge of a 401 says if a key was refused (RFC 6750, section 3). */
export function errorBodyResponse(
  body: ErrorBody,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const refusal = body.code === 'unauthenticated' ? '' : ', error="invalid_token"';
  const challenge = `Bearer realm="pet store"${refusal}`;
  return {
    status: body.status,
    headers: {
      'content-type': 'application/json',
      ...(body.status === 401 && { 'www-authenticate': challenge }),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}
