import { errors } from 'undici';
import {
  BackendTimeoutError,
  BackendUnavailableError,
  InvalidResponseError,
} from '../../contract/error.ts';

/** The reason of a cancellation at the deadline. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** The connection broke after the response headers. */
export class BodyInterrupted extends Error {
  override readonly name = 'BodyInterrupted';
}

/** The budget for the bodies of concurrent calls is exhausted. */
export class BodyBudgetExceeded extends Error {
  override readonly name = 'BodyBudgetExceeded';
}

/** Connecting failed, so nothing was sent. `cause` is the error of the connection. */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';
  /** The subject of the certificate, if it was received and rejected. */
  readonly certificateSubject: string | undefined;

  constructor(cause: Error, certificateSubject: string | undefined) {
    super('Connecting failed', { cause });
    this.certificateSubject = certificateSubject;
  }
}

/**
 * Returns the contract's error for an error of undici. The message is shown to clients, so it
 * contains no address; `cause` is for the log.
 */
export function toContractError(error: unknown): Error {
  const cause = error instanceof BodyInterrupted ? error.cause : error;
  if (
    cause instanceof DeadlineExceeded ||
    cause instanceof errors.HeadersTimeoutError ||
    (cause instanceof ConnectionFailed && cause.cause instanceof errors.ConnectTimeoutError)
  ) {
    return new BackendTimeoutError('The pet store did not respond in time.', { cause });
  }
  const invalid = describeInvalidHttp(cause);
  if (invalid !== undefined) return new InvalidResponseError(invalid, { cause });
  if (error instanceof BodyBudgetExceeded) {
    return new BackendUnavailableError(
      'The responses of the pet store are too large to buffer at the same time.',
      {
        cause: error,
        retryAfterMs: 1000,
      },
    );
  }
  const what =
    error instanceof BodyInterrupted ? 'closed the connection early' : 'could not be reached';
  return new BackendUnavailableError(`The pet store ${what}.`, { cause });
}

/**
 * Whether a read can be retried: connecting failed, or the connection was reset before the response
 * headers. A rejected certificate is not retried.
 */
export function isRetryable(error: unknown): boolean {
  return error instanceof ConnectionFailed
    ? error.certificateSubject === undefined
    : isReset(error);
}

/** Whether no complete response arrived on an established connection: a timeout or a reset. */
export function isIncomplete(error: unknown): boolean {
  return (
    error instanceof DeadlineExceeded ||
    error instanceof errors.HeadersTimeoutError ||
    (error instanceof BodyInterrupted && describeInvalidHttp(error.cause) === undefined) ||
    isReset(error)
  );
}

/** Describes a violation of HTTP or of a size limit; returns undefined for any other error. */
function describeInvalidHttp(error: unknown): string | undefined {
  if (error instanceof errors.ResponseExceededMaxSizeError) return 'body: expected a smaller body.';
  if (error instanceof errors.HeadersOverflowError) return 'headers: expected smaller headers.';
  if (
    // Not every HTTPParserError carries a `code`, so the class decides.
    error instanceof errors.HTTPParserError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    isUnexpectedUpgrade(error)
  ) {
    return 'Expected HTTP, received something else.';
  }
  return undefined;
}

/** Whether the status was 101. undici's error differs from that of a reset only in its message. */
function isUnexpectedUpgrade(error: unknown): boolean {
  return error instanceof errors.SocketError && error.message === 'bad upgrade';
}

function isReset(error: unknown): boolean {
  if (error instanceof errors.SocketError) return !isUnexpectedUpgrade(error);
  return resets.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** The system's error codes for a connection that broke after it was established. */
const resets = new Set(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
