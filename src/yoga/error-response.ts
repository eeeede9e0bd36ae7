import type { HttpError } from '../http/error.ts';
import type { HttpResponse } from '../http/http-message.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import { formatWhole, readFormat, wholeJson } from './delivery.ts';

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

/** Formats an error as a GraphQL response in a format that the client accepts, or else as JSON. */
export function graphqlErrorResponse(
  error: HttpError,
  { head, scope }: Pick<GatewayRequest, 'head' | 'scope'>,
): HttpResponse {
  const format = readFormat(head.headers['accept']) ?? wholeJson;
  const json = JSON.stringify(graphqlErrorResult(error, scope.requestId));
  const { body, contentType, isPart } = formatWhole(format, json);
  const status = (isPart && format.delivery?.errorStatus) || error.status;
  return { status, headers: { 'content-type': contentType, ...error.headers }, body };
}
