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

/**
 * The contract's error for whatever undici threw. The cause is kept for the log; the message names
 * no address, since it goes to clients.
 */
export function toContractError(cause: unknown): Error {
  if (
    cause instanceof DeadlineExceeded ||
    cause instanceof errors.ConnectTimeoutError ||
    cause instanceof errors.HeadersTimeoutError ||
    cause instanceof errors.BodyTimeoutError
  ) {
    return new BackendTimeoutError('The pet store did not answer in time.', { cause });
  }
  if (cause instanceof errors.ResponseExceededMaxSizeError) {
    return new InvalidResponseError('body: expected a smaller one.', { cause });
  }
  if (cause instanceof errors.HeadersOverflowError) {
    return new InvalidResponseError('headers: expected smaller ones.', { cause });
  }
  // Not every HTTPParserError carries a `code`, so the class decides.
  if (cause instanceof errors.HTTPParserError) {
    return new InvalidResponseError('Expected HTTP, received something else.', { cause });
  }
  return new BackendUnavailableError('The pet store could not be reached.', { cause });
}
