import { BackendTimeoutError, ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import type { Call } from '../../contract/pet-store.ts';
import type { Log } from '../../telemetry/log.ts';
import { ConnectionFailed } from './faults.ts';

/** Returns how a call failed, for log, metrics and trace: the HTTP status, or one word. */
export function outcomeOf(call: Call, error: unknown): number | string {
  if (error instanceof ErrorResponse) return error.status;
  if (error instanceof InvalidResponseError) return 'invalid';
  if (error instanceof BackendTimeoutError) return 'timeout';
  return call.signal?.aborted ? 'cancelled' : 'unavailable';
}

/**
 * Logs a failed call, unless the caller caused it: with a 4xx status, or by disconnecting. Of the
 * cause, logs only the name and code, because the message may contain an address; of a rejected
 * certificate, the subject.
 */
export function logFailure(
  log: Log,
  { requestId, signal }: Pick<Call, 'requestId' | 'signal'>,
  operation: string,
  error: unknown,
): void {
  if (signal?.aborted) return;
  const context = { requestId, operation };
  if (error instanceof ErrorResponse) {
    const { status, hidden } = error;
    if (status < 400 || status > 499) log.warn({ ...context, status, ...hidden }, 'REST error');
    return;
  }
  const { name, message, cause } = error as Error;
  const connection = cause instanceof ConnectionFailed ? cause : undefined;
  const { name: causeName, code: causeCode } = (connection?.cause ??
    cause ??
    {}) as NodeJS.ErrnoException;
  const certificateSubject = connection?.certificateSubject;
  log.warn(
    { ...context, error: name, reason: message, causeName, causeCode, certificateSubject },
    'REST call failed',
  );
}

/** Logs when a circuit opens or closes, but not the failed probes in between. */
export function createCircuitLog(log: Log, service: string): (state: 'open' | 'closed') => void {
  let lastState = 'closed';
  return (state) => {
    if (state === lastState) return;
    lastState = state;
    log.warn({ service }, state === 'open' ? 'circuit opened' : 'circuit closed');
  };
}
