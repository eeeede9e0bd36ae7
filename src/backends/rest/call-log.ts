import { ErrorResponse } from '../../contract/error.ts';
import type { Call } from '../../contract/pet-store.ts';
import type { Log } from '../../telemetry/log.ts';
import { ConnectionFailed } from './connections.ts';
import type { Outcome } from './outcome.ts';

/**
 * Logs a failed call. Of the cause, logs only the name and code, because the message may contain an
 * address; of a rejected certificate, the subject. `clientLeft`: nobody received the
 * error.
 */
export function logFailure(
  log: Log,
  { requestId, signal }: Pick<Call, 'requestId' | 'signal'>,
  operation: string,
  outcome: Outcome['kind'],
  error: Error,
): void {
  const { message: reason, cause } = error;
  const connection = cause instanceof ConnectionFailed ? cause : undefined;
  const { name, code } = (connection?.cause ?? cause ?? {}) as NodeJS.ErrnoException;
  const certificateSubject = connection?.certificateSubject;
  const details = { reason, causeName: name, causeCode: code, certificateSubject };
  const { status, hidden }: Partial<ErrorResponse> = error instanceof ErrorResponse ? error : {};
  // Shortened, so that the line fits into an atomic write to a pipe.
  const body = { code: hidden?.code.slice(0, 100), message: hidden?.message.slice(0, 500) };
  const client = signal?.aborted && { clientLeft: true };
  const entry = { requestId, operation, outcome, ...client, ...details, ...body, status };
  log.warn(entry, 'REST call failed');
}
