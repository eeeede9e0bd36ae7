/** The body of every error response (contract, "Error"). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  /** The HTTP status code of the response. */
  readonly status: number;
}

/** A backend returned an error status. `body` is undefined if it sent no Error body. */
export class ErrorResponse extends Error {
  override readonly name = 'ErrorResponse';
  /** The HTTP status code. */
  readonly status: number;
  readonly body: ErrorBody | undefined;
  /** The `Retry-After` of the backend (RFC 9110), in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The Error body of a server error. It is logged, but not sent to clients. */
  readonly hidden: ErrorBody | undefined;

  constructor(
    status: number,
    message: string,
    more: Partial<Pick<ErrorResponse, 'body' | 'retryAfterMs' | 'hidden'>> = {},
  ) {
    super(message);
    this.status = status;
    this.body = more.body;
    this.retryAfterMs = more.retryAfterMs;
    this.hidden = more.hidden;
  }

  /** Creates the error response with exactly this body. */
  static of(body: ErrorBody): ErrorResponse {
    return new ErrorResponse(body.status, body.message, { body });
  }
}

/** A value from the caller violates the contract. No call was made. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
}

/** The caller sent no API key, or a malformed one (RFC 6750). No call was made. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
}

/** The backend did not respond before the deadline of the call. */
export class BackendTimeoutError extends Error {
  override readonly name = 'BackendTimeoutError';
}

/** The backend could not be reached, or the connection broke before the response was complete. */
export class BackendUnavailableError extends Error {
  override readonly name = 'BackendUnavailableError';
  /** How long to wait before a retry, in milliseconds, if known. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(message, options);
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** The backend returned a success status with a body that violates the contract. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError';
}
