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

/** 503: the gateway is overloaded; the client may retry after one second. */
export function overloaded(): HttpError {
  const message = 'The gateway is overloaded. Try again in one second.';
  return new HttpError(503, 'OVERLOADED', message, { 'retry-after': '1' });
}

/** 429: the API key has too many requests in flight; the client may retry after one second. */
export function tooManyRequests(): HttpError {
  const message = 'Too many requests with this API key are in flight. Try again in one second.';
  return new HttpError(429, 'RATE_LIMITED', message, { 'retry-after': '1' });
}

/** 500: an unexpected error, which is logged and not shown to the client. */
export function internalError(): HttpError {
  return new HttpError(
    500,
    'INTERNAL_SERVER_ERROR',
    'Internal error of the gateway. Include the requestId when you report it.',
  );
}

/** 405: the path does not support the method (RFC 9110, section 15.5.6). */
export function methodNotAllowed(allow: string, received: string): HttpError {
  const message = `Expected ${allow.replaceAll(', ', ' or ')}, received ${received.slice(0, 32)}.`;
  return new HttpError(405, 'METHOD_NOT_ALLOWED', message, { allow });
}
