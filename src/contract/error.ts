/** The body of every error response (contract, "Error"). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  /** The HTTP status code of the response. */
  readonly status: number;
}

/**
 * What became of a write that failed: `NOT_DONE` if it was not sent or was refused, `DONE` if the
 * service confirmed it with a response that breaks the contract or was not read, otherwise `UNKNOWN`.
 */
export type WriteOutcome = 'NOT_DONE' | 'DONE' | 'UNKNOWN';

/** A failure that this module defines. All others are unexpected. */
export abstract class PetStoreError extends Error {
  /** What became of the call if it was a write. */
  abstract readonly writeOutcome: WriteOutcome;
}

/** A backend returned an error status. `body` is undefined if it sent no Error body. */
export class ErrorResponse extends PetStoreError {
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

  get writeOutcome(): WriteOutcome {
    return this.status >= 400 && this.status <= 499 ? 'NOT_DONE' : 'UNKNOWN';
  }

  /** Creates the error response with exactly this body. */
  static of(body: ErrorBody): ErrorResponse {
    return new ErrorResponse(body.status, body.message, { body });
  }
}

/** A value from the caller violates the contract. No call was made. */
export class InvalidInputError extends PetStoreError {
  override readonly name = 'InvalidInputError';
  readonly writeOutcome = 'NOT_DONE';
}

/** The caller used an `Idempotency-Key` again for another write. No call was made. */
export class IdempotencyKeyReusedError extends PetStoreError {
  override readonly name = 'IdempotencyKeyReusedError';
  readonly writeOutcome = 'NOT_DONE';

  constructor() {
    super(
      'idempotency-key: expected the parameters of its first write, received others. Use a new key.',
    );
  }
}

/** The caller sent no API key, or a malformed one (RFC 6750). No call was made. */
export class UnauthenticatedError extends PetStoreError {
  override readonly name = 'UnauthenticatedError';
  readonly writeOutcome = 'NOT_DONE';
}

/** A setting of the operation is missing. No call was made, and none will be before a restart. */
export class NotConfiguredError extends PetStoreError {
  override readonly name = 'NotConfiguredError';
  readonly writeOutcome = 'NOT_DONE';
}

/** The database of the backend refused a statement, for a reason that is not shown. It has done nothing. */
export class RefusedStatementError extends PetStoreError {
  override readonly name = 'RefusedStatementError';
  readonly writeOutcome = 'NOT_DONE';
}

/** The caller disconnected, or its deadline passed. A write was not sent. */
export class CancelledError extends PetStoreError {
  override readonly name = 'CancelledError';
  readonly writeOutcome = 'NOT_DONE';

  constructor() {
    super('The caller aborted the request.');
  }
}

/** A call to a backend failed without a usable response. */
abstract class BackendError extends PetStoreError {
  readonly writeOutcome: WriteOutcome;
  /** How long to wait before a retry, in milliseconds, if known. */
  readonly retryAfterMs: number | undefined;
  /** Whether a demo key asked for it. The REST interface then fails in this way itself. */
  readonly isStaged: boolean;

  constructor(
    message: string,
    more: ErrorOptions &
      Partial<Pick<BackendError, 'writeOutcome' | 'retryAfterMs' | 'isStaged'>> = {},
  ) {
    super(message, more);
    this.writeOutcome = more.writeOutcome ?? 'UNKNOWN';
    this.retryAfterMs = more.retryAfterMs;
    this.isStaged = more.isStaged ?? false;
  }
}

/** The backend did not respond before the deadline of the call. */
export class BackendTimeoutError extends BackendError {
  override readonly name = 'BackendTimeoutError';
}

/** The backend could not be reached, or the connection broke before the response was complete. */
export class BackendUnavailableError extends BackendError {
  override readonly name = 'BackendUnavailableError';
}

/** The backend returned a success status with a body that violates the contract, or no HTTP. */
export class InvalidResponseError extends BackendError {
  override readonly name = 'InvalidResponseError';
}

/** The backend's response is valid, but in a form of HTTP that the gateway cannot read. */
export class UnsupportedResponseError extends BackendError {
  override readonly name = 'UnsupportedResponseError';
}
