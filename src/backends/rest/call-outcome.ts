import { BackendTimeoutError, ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import type { Call } from '../../contract/pet-store.ts';
import type { Log } from '../../telemetry/log.ts';
import { ConnectionFailed } from './faults.ts';

/** How a failed call ended, for the log, the metrics and the trace: its status, or one word. */
export function outcomeOf(call: Call, error: unknown): number | string {
  if (error instanceof ErrorResponse) return error.status;
  if (error instanceof InvalidResponseError) return 'invalid';
  if (error instanceof BackendTimeoutError) return 'timeout';
  return call.signal?.aborted ? 'cancelled' : 'unavailable';
}

/**
 * Logs what the operator of the REST service should know of: every failure but the caller's own.
 * Of a cause only its name and code are logged, since its message may hold an address; of a
 * certificate that was rejected, its subject.
 */
export function logFault(
  log: Log,
  { requestId, signal }: Pick<Call, 'requestId' | 'signal'>,
  operation: string,
  error: unknown,
): void {
  if (signal?.aborted) return;
  const where = { requestId, operation };
  if (error instanceof ErrorResponse) {
    const { status, hidden } = error;
    if (status < 400 || status > 499) log.warn({ ...where, status, ...hidden }, 'REST error');
    return;
  }
  const { name, message, cause } = error as Error;
  const connection = cause instanceof ConnectionFailed ? cause : undefined;
  const { name: causeName, code: causeCode } = (connection?.cause ??
    cause ??
    {}) as NodeJS.ErrnoException;
  const certificateSubject = connection?.certificateSubject;
  log.warn(
    { ...where, error: name, reason: message, causeName, causeCode, certificateSubject },
    'REST call failed',
  );
}

/** Logs that a circuit opens, and that it closes; not each call that tries and fails in between. */
export function circuitLog(log: Log, service: string): (state: 'open' | 'closed') => void {
  let last = 'closed';
  return (state) => {
    if (state === last) return;
    last = state;
    log.warn({ service }, state === 'open' ? 'circuit opened' : 'circuit closed');
  };
}
