import { errors } from 'undici';
import {
  BackendTimeoutError,
  BackendUnavailableError,
  InvalidResponseError,
} from '../../contract/error.ts';

/** The reason with which a call is aborted when its deadline has passed. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** The connection broke after the answer had begun. */
export class BodyInterrupted extends Error {
  override readonly name = 'BodyInterrupted';
}

/** The bodies that arrive at the same time hold as much as they may already. */
export class BodyBudgetExceeded extends Error {
  override readonly name = 'BodyBudgetExceeded';
}

/** No connection was made, so nothing was sent. `cause` says why. */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';
  /** Whom the certificate is for that was rejected, where that is the reason. */
  readonly certificateSubject: string | undefined;

  constructor(cause: Error, certificateSubject: string | undefined) {
    super('No connection was made', { cause });
    this.certificateSubject = certificateSubject;
  }
}

/**
 * The contract's error for whatever undici threw. The cause is kept for the log; the message names
 * no address, since it goes to clients.
 */
export function toContractError(error: unknown): Error {
  const cause = error instanceof BodyInterrupted ? error.cause : error;
  if (
    cause instanceof DeadlineExceeded ||
    cause instanceof errors.HeadersTimeoutError ||
    (cause instanceof ConnectionFailed && cause.cause instanceof errors.ConnectTimeoutError)
  ) {
    return new BackendTimeoutError('The pet store did not answer in time.', { cause });
  }
  const broken = breachOfHttp(cause);
  if (broken !== undefined) return new InvalidResponseError(broken, { cause });
  if (error instanceof BodyBudgetExceeded) {
    return new BackendUnavailableError('The pet store answers more than can be held at a time.', {
      cause: error,
      retryAfterMs: 1000,
    });
  }
  const what = error instanceof BodyInterrupted ? 'broke off its answer' : 'could not be reached';
  return new BackendUnavailableError(`The pet store ${what}.`, { cause });
}

/**
 * Whether a read may be sent once more: its connection was not made, or was reset before an answer
 * began, so that nothing of an answer is thrown away. A certificate stays what it is.
 */
export function isRetryable(error: unknown): boolean {
  return error instanceof ConnectionFailed
    ? error.certificateSubject === undefined
    : isReset(error);
}

/** Whether the service took the call and answered too late, or not to the end. */
export function isUnanswered(error: unknown): boolean {
  return (
    error instanceof DeadlineExceeded ||
    error instanceof errors.HeadersTimeoutError ||
    (error instanceof BodyInterrupted && breachOfHttp(error.cause) === undefined) ||
    isReset(error)
  );
}

/** What is wrong with an answer that is no proper HTTP answer. */
function breachOfHttp(error: unknown): string | undefined {
  if (error instanceof errors.ResponseExceededMaxSizeError) return 'body: expected a smaller one.';
  if (error instanceof errors.HeadersOverflowError) return 'headers: expected smaller ones.';
  if (
    // Not every HTTPParserError carries a `code`, so the class decides.
    error instanceof errors.HTTPParserError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    isUnaskedUpgrade(error)
  ) {
    return 'Expected HTTP, received something else.';
  }
  return undefined;
}

/** Status 101; undici tells it from a broken connection by its message only. */
function isUnaskedUpgrade(error: unknown): boolean {
  return error instanceof errors.SocketError && error.message === 'bad upgrade';
}

function isReset(error: unknown): boolean {
  if (error instanceof errors.SocketError) return !isUnaskedUpgrade(error);
  return resets.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** What the system says of a connection that was made and broke. */
const resets = new Set(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
