/** The body of every error response (contract, "Error"). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  /** The HTTP status code of the response. */
  readonly status: number;
}

/** A backend answered with an error status. `body` is absent when it sent no Error body. */
export class ErrorResponse extends Error {
  override readonly name = 'ErrorResponse';
  /** The status line's code. */
  readonly status: number;
  readonly body: ErrorBody | undefined;
  /** How long the backend asked to be left alone, in milliseconds (Retry-After, RFC 9110). */
  readonly retryAfterMs: number | undefined;
  /** The Error body of a server error: for the log, not for clients. */
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

  /** The error response that consists of exactly this body. */
  static of(body: ErrorBody): ErrorResponse {
    return new ErrorResponse(body.status, body.message, { body });
  }
}

/** A value that the caller sent breaks the contract; nothing was called or changed. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
}

/** The caller sent no API key, or none that RFC 6750 allows; nothing was called. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
}

/** The backend did not answer within the deadline of the call. */
export class BackendTimeoutError extends Error {
  override readonly name = 'BackendTimeoutError';
}

/** The backend could not be reached, or its connection broke before the answer was whole. */
export class BackendUnavailableError extends Error {
  override readonly name = 'BackendUnavailableError';
  /** When a next try may do better, in milliseconds, where that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(message, options);
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** The backend reported success with a body that breaks the contract. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError';
}
