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
  return new HttpError(
    500,
    'INTERNAL_SERVER_ERROR',
    'Internal error of the gateway. Include the requestId when you report it.',
  );
}

/** 405: the path does not support the method (RFC 9110, section 15.5.6). */
export function methodNotAllowed(allow: string, received: string): HttpError {
  const message = `Expected ${allow.replace(/, (?=\w+$)/, ' or ')}, received ${received.slice(0, 32)}.`;
  return new HttpError(405, 'METHOD_NOT_ALLOWED', message, { allow });
}
