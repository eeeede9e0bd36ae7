import type { ErrorBody } from '../contract/error.ts';
import type { HttpError } from './error.ts';
import { readAccept } from './media-type.ts';
import type { HttpRequest, HttpResponse } from './message.ts';

/**
 * Formats an error as a GraphQL result. Its extensions repeat the status and `Retry-After`, because
 * GraphQL clients hide headers.
 */
export function graphqlErrorResult(error: HttpError, requestId: string) {
  const { status, code, message, headers } = error;
  const seconds = headers['retry-after'];
  const retry = seconds && { status, retryAfterMs: Number(seconds) * 1000 };
  // Nothing was executed if the request may be repeated, or its deadline passed.
  const refused = (seconds || status === 504) && { outcome: 'NOT_DONE' };
  return { errors: [{ message, extensions: { code, ...retry, ...refused, requestId } }] };
}

/** Formats an error as a GraphQL response, for the paths that serve GraphQL. */
export function graphqlErrorResponse(
  error: HttpError,
  request: Pick<HttpRequest, 'headers'>,
  requestId: string,
): HttpResponse {
  const { jsonType: type } = readAccept(request.headers['accept']);
  return {
    status: error.status,
    headers: { 'content-type': `${type}; charset=utf-8`, ...error.headers },
    body: JSON.stringify(graphqlErrorResult(error, requestId)),
  };
}

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
