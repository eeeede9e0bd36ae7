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

/** Adds to the message of a failed write what its caller must know if its outcome is unknown. */
export function withOutcome(message: string, outcome: unknown): string {
  if (outcome !== 'UNKNOWN') return message;
  return `${message.replace(/[^.!?]$/, '$&.')} The write may have been carried out.`;
}

/** What is known of a failure beside its message. */
interface FailureOptions extends ErrorOptions {
  readonly writeOutcome?: WriteOutcome;
  /** How long to wait before a retry, in milliseconds, if known. */
  readonly retryAfterMs?: number | undefined;
  /** Whether a demo key asked for it. The REST interface then fails in this way itself. */
  readonly isStaged?: boolean;
}

/** A failure that this module defines. All others are unexpected. */
export abstract class PetStoreError extends Error {
  /** The code of the GraphQL error. */
  abstract readonly code: string;
  /** The HTTP status of the REST interface. */
  abstract readonly status: number;
  /** What became of the call if it was a write. */
  readonly writeOutcome: WriteOutcome;
  readonly retryAfterMs: number | undefined;
  readonly isStaged: boolean;
  /** Whether the outcome of a write with a key stays unknown, however often it is repeated. */
  isFinal = false;

  constructor(message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.writeOutcome = options.writeOutcome ?? 'NOT_DONE';
    this.retryAfterMs = options.retryAfterMs;
    this.isStaged = options.isStaged ?? false;
  }

  /** The Error body of the REST interface. The contract does not specify codes, so these are our own. */
  get errorBody(): ErrorBody {
    const { code, message, status } = this;
    return { code: code.replace('UPSTREAM_', '').toLowerCase(), message, status };
  }
}

/** The GraphQL codes of the statuses of a backend; all others are `UPSTREAM_ERROR`. */
const codeOfStatus = {
  400: 'BAD_USER_INPUT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  422: 'BAD_USER_INPUT',
  429: 'RATE_LIMITED',
} as const;

/** A backend returned an error status. `body` is undefined if it sent no Error body. */
export class ErrorResponse extends PetStoreError {
  readonly status: number;
  readonly body: ErrorBody | undefined;
  /** The Error body of a server error. It is logged, but not sent to clients. */
  readonly hidden: ErrorBody | undefined;

  constructor(
    status: number,
    message: string,
    more: Partial<Pick<ErrorResponse, 'body' | 'retryAfterMs' | 'hidden' | 'writeOutcome'>> = {},
  ) {
    const isRefused = status >= 400 && status <= 499;
    super(message, { writeOutcome: isRefused ? 'NOT_DONE' : 'UNKNOWN', ...more });
    this.status = status;
    this.body = more.body;
    this.hidden = more.hidden;
  }

  get code(): (typeof codeOfStatus)[keyof typeof codeOfStatus] | 'UPSTREAM_ERROR' {
    return codeOfStatus[this.status as keyof typeof codeOfStatus] ?? 'UPSTREAM_ERROR';
  }

  override get errorBody(): ErrorBody {
    const { body, status } = this;
    if (body && status >= 400 && status < 600) return { ...body, status };
    const message = 'The upstream service returned an invalid response.';
    return { code: 'bad_gateway', message, status: 502 };
  }

  /** Creates the error response with exactly this body. */
  static of(body: ErrorBody): ErrorResponse {
    return new ErrorResponse(body.status, body.message, { body });
  }
}

/** Returns the base of a class of failures, with what usually became of the write. */
function failure<const Code extends string>(
  code: Code,
  status: number,
  writeOutcome: WriteOutcome = 'NOT_DONE',
) {
  return class extends PetStoreError {
    readonly code = code;
    readonly status = status;

    constructor(message: string, options?: FailureOptions) {
      super(message, { writeOutcome, ...options });
    }
  };
}

/** A value from the caller violates the contract. No call was made. */
export class InvalidInputError extends failure('BAD_USER_INPUT', 400) {
  override get errorBody(): ErrorBody {
    return { ...super.errorBody, code: 'invalid_value' };
  }
}

const otherParameters =
  'idempotency-key: expected the parameters of its first write, received others. Use a new key.';

/** The caller used an `Idempotency-Key` again for another write. No call was made. */
export class IdempotencyKeyReusedError extends failure('IDEMPOTENCY_KEY_REUSED', 422) {
  constructor(message: string = otherParameters, options?: FailureOptions) {
    super(message, options);
  }
}

/** The caller sent no API key, or a malformed one (RFC 6750). No call was made. */
export class UnauthenticatedError extends failure('UNAUTHENTICATED', 401) {}

/** A setting of the operation is missing. No call was made, and none will be before a restart. */
export class NotConfiguredError extends failure('NOT_CONFIGURED', 501) {}

/** The database of the backend refused a statement, for a reason that is not shown. It has done nothing. */
export class RefusedStatementError extends failure('INTERNAL_SERVER_ERROR', 500) {}

/** The caller disconnected, or its deadline passed. A write was not sent. */
export class CancelledError extends failure('CANCELLED', 503) {
  constructor() {
    super('The caller aborted the request.');
  }
}

/** The backend did not respond before the deadline of the call. */
export class BackendTimeoutError extends failure('UPSTREAM_TIMEOUT', 504, 'UNKNOWN') {}

/** The backend could not be reached, or the connection broke before the response was complete. */
export class BackendUnavailableError extends failure('UPSTREAM_UNAVAILABLE', 503, 'UNKNOWN') {}

/** The backend returned a success status with a body that violates the contract, or no HTTP. */
export class InvalidResponseError extends failure('UPSTREAM_INVALID_RESPONSE', 502, 'UNKNOWN') {}

/** Whether an error may be shown to clients. All others are masked and logged. */
export function isShown(error: unknown): error is PetStoreError {
  return error instanceof PetStoreError && !(error instanceof RefusedStatementError);
}
