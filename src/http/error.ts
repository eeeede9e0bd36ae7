/** A request that is refused with this status, before or instead of what it asks for. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** The code of the GraphQL error, such as `BAD_REQUEST`; an Error body has it in lower case. */
  readonly code: string;
  /** Sent with the response, by lower-case name. */
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

/** The gateway can't take the request in now; the client may send it again in a second. */
export function overloaded(): HttpError {
  const message = 'Too busy. Try again in a second.';
  return new HttpError(503, 'OVERLOADED', message, { 'retry-after': '1' });
}

/** The client has too many requests in flight; it may send this one again in a second. */
export function tooManyRequests(): HttpError {
  const message = 'Too many requests of this API key are in flight. Try again in a second.';
  return new HttpError(429, 'RATE_LIMITED', message, { 'retry-after': '1' });
}

/** The request failed for a reason that is logged and not shown. */
export function internalError(): HttpError {
  return new HttpError(
    500,
    'INTERNAL_SERVER_ERROR',
    'Something went wrong in the gateway. Quote the requestId when you report it.',
  );
}

/** The method is not one of those that the address accepts (RFC 9110, section 15.5.6). */
export function methodNotAllowed(allow: string, received: string): HttpError {
  const message = `Expected ${allow.replaceAll(', ', ' or ')}, received ${received.slice(0, 32)}.`;
  return new HttpError(405, 'METHOD_NOT_ALLOWED', message, { allow });
}
