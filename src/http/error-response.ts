import type { ErrorBody } from '../contract/error.ts';
import type { HttpError } from './error.ts';
import type { HttpResponse } from './http-message.ts';

/** Formats an error as an Error body (contract, "Error"), for all other paths. */
export function restErrorResponse({ status, code, message, headers }: HttpError): HttpResponse {
  return errorBodyResponse({ code: code.toLowerCase(), message, status }, headers);
}

/** Returns a response with an Error body; a 401 names the scheme (RFC 9110, section 11.6.1). */
export function errorBodyResponse(
  body: ErrorBody,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return {
    status: body.status,
    headers: {
      'content-type': 'application/json',
      ...(body.status === 401 && { 'www-authenticate': 'Bearer' }),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}
