import { errors } from 'undici';
import { ConnectionFailed } from './connections.ts';
import type { Failed } from './outcome.ts';

/**
 * Classifies an error of undici or of the connector. `status` is 0 if no headers have arrived;
 * `mayBeStale`: the connection had served another call, and this one was not sent before.
 */
export function outcomeOfFailure(
  cause: Error,
  wasSent: boolean,
  status: number,
  mayBeStale: boolean,
): Failed {
  if (cause instanceof ConnectionFailed) {
    const { certificateSubject, cause: reason } = cause;
    const isTimeout = reason instanceof errors.ConnectTimeoutError;
    const why = certificateSubject ? 'certificate' : isTimeout ? 'connectTimeout' : 'noConnection';
    return { kind: 'notSent', why, cause };
  }
  if (!wasSent) {
    return { kind: 'notSent', why: isReset(cause) ? 'connectionClosed' : 'noConnection', cause };
  }
  const problem = describeInvalidHttp(cause);
  if (problem !== undefined)
    return { kind: 'invalid', status: status || undefined, problem, cause };
  if (cause instanceof errors.HeadersTimeoutError) return { kind: 'lost', how: 'timeout', cause };
  if (status > 0) return { kind: 'lost', how: 'cutOff', cause };
  return { kind: 'lost', how: mayBeStale && isReset(cause) ? 'stale' : 'reset', cause };
}

/** Describes a violation of HTTP or of a size limit; returns undefined for any other error. */
function describeInvalidHttp(error: Error): string | undefined {
  if (error instanceof errors.ResponseExceededMaxSizeError) return 'body: expected a smaller body.';
  if (error instanceof errors.HeadersOverflowError) return 'headers: expected smaller headers.';
  if (
    // Not every HTTPParserError carries a `code`, so the class decides.
    error instanceof errors.HTTPParserError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    // The status was 100 or 101. Only the message differs from that of a reset.
    (error instanceof errors.SocketError && /^bad (?:upgrade|response)$/.test(error.message))
  ) {
    return 'Expected HTTP, received something else.';
  }
  return undefined;
}

function isReset(error: Error): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return error instanceof errors.SocketError || resets.has(code);
}

/** The system's error codes for a connection that broke after it was established. */
const resets = new Set(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
