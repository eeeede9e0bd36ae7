import { ErrorResponse } from '../../contract/error.ts';
import type { Call } from '../../contract/pet-store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { RestRequest } from './transport.ts';

/**
 * Logs what the operator of the REST service should know of: every failure but the caller's own.
 * Of a cause only its name and code are told, since its message may hold an address.
 */
export function logFault(log: Log, call: Call, request: RestRequest, error: unknown): void {
  if (call.signal?.aborted) return;
  const { method, path } = request;
  const where = { requestId: call.requestId, method, operation: path.replace(/[?\d].*/, '') };
  if (error instanceof ErrorResponse) {
    const { status, hidden } = error;
    if (status < 400 || status > 499) log.warn({ ...where, status, ...hidden }, 'REST error');
    return;
  }
  const { name, message, cause } = error as Error;
  const { name: causeName, code: causeCode } = (cause ?? {}) as NodeJS.ErrnoException;
  log.warn({ ...where, error: name, reason: message, causeName, causeCode }, 'REST call failed');
}
