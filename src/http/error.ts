import type { ErrorBody } from '../contract/error.ts';
import { serviceName } from '../contract/service-name.ts';
import type { HttpResponse } from './http-message.ts';

/** An error that the client receives with this HTTP status. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** The code of the GraphQL error, such as `BAD_REQUEST`; an Error body uses lower case. */
  readonly code: string;
  /** Headers of the response, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** 400: the request is malformed. */
export function badRequest(message: string): HttpError {
  return new HttpError(400, 'BAD_REQUEST', message);
}

/** 500: an unexpected error, which is logged and not shown to the client. */
export function internalError(): HttpError {
  const message = 'Internal error of the gateway. Include the requestId when you report it.';
  return new HttpError(500, 'INTERNAL_SERVER_ERROR', message);
}

/** 405: the path does not support the method (RFC 9110, section 15.5.6). */
export function methodNotAllowed(allow: string, received: string): HttpError {
  const message = `Expected ${allow.replace(/, (?=\w+$)/, ' or ')}, received ${received.slice(0, 32)}.`;
  return new HttpError(405, 'METHOD_NOT_ALLOWED', message, { allow });
}

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
  const challenge = `Bearer realm="${serviceName}"${refusal}`;
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
