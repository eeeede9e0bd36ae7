import { ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import type { Caller, RestRequest } from '../../contract/pet-store.ts';
import type { Log } from '../../telemetry/log.ts';
import { ConnectionFailed } from './connections.ts';
import { consequencesOf, type Failed, isSuccess, type Responded, toError } from './outcome.ts';
import { type Received, readError, readText } from './response.ts';

/** Reads the text of the body of a success. @throws InvalidResponseError */
export type Read<T = unknown> = (text: string) => T;

/** How a call ends, for its callers and in its report. */
export interface Ending {
  /** The value, or the error. */
  readonly result: unknown;
  /** The HTTP status, or the kind of failure. */
  readonly label: number | string;
  /** The complete response, if there is one. */
  readonly response?: Responded;
  /** Whether the service has accepted the key; undefined if that is not known. */
  readonly isKeyAccepted?: boolean | undefined;
  /** What became of the call, if its failure is logged. */
  readonly logged?: string | undefined;
}

/** Reads the outcome of a call with an API key. */
export function readOutcome(
  outcome: Received | Failed,
  read: Read,
  request: RestRequest,
  apiKey: string,
): Ending {
  const response = isSuccess(outcome) ? outcome.decode() : outcome;
  if (response.why !== undefined) return failed(response);
  if (!isSuccess(response)) return refused(outcome as Received, request, apiKey);
  const { status } = response;
  try {
    const result = read(readText(response));
    // Another path may need no key.
    const isKeyAccepted = request.template !== undefined || undefined;
    return { result, label: status, response, isKeyAccepted };
  } catch (error) {
    if (!(error instanceof InvalidResponseError)) return { result: error, label: status, response };
    const { message: problem, cause } = error;
    return { ...failed({ why: 'invalid', status, problem, cause }), response };
  }
}

function failed(outcome: Failed): Ending {
  const { kind, label, isLogged } = consequencesOf(outcome);
  return { result: toError(outcome), label, logged: isLogged ? kind : undefined };
}

/** Reads the response with a status that is no success. */
function refused(
  received: Received,
  { operation, mayBeRepeated }: RestRequest,
  apiKey: string,
): Ending {
  const decoded = received.decode();
  const response = decoded.why === undefined ? decoded : received;
  const { status } = response;
  const result = readError(response, apiKey, mayBeRepeated);
  // The contract has a 404 only for a pet, by the service that has accepted the key.
  const isNoPet = status === 404 && operation === 'getPet' && result.body !== undefined;
  const isKeyAccepted = status === 401 ? false : isNoPet || undefined;
  const { kind, isLogged } = consequencesOf(received);
  return { result, label: status, response, isKeyAccepted, logged: isLogged ? kind : undefined };
}

/**
 * Logs a failed call. Of the cause, logs only the name and code, because the message may contain an
 * address. `clientLeft`: nobody received the error.
 */
export function logFailure(
  log: Log,
  { requestId, hasLeft = false }: Pick<Caller, 'requestId'> & { readonly hasLeft?: boolean },
  operation: string,
  outcome: string,
  error: Error,
): void {
  const { message: reason, cause } = error;
  const deepest = cause instanceof ConnectionFailed ? cause.cause : cause;
  const { name, code } = (deepest ?? {}) as NodeJS.ErrnoException;
  const details = { reason, causeName: name, causeCode: code };
  const { status, hidden }: Partial<ErrorResponse> = error instanceof ErrorResponse ? error : {};
  // Shortened, so that the line fits into an atomic write to a pipe.
  const body = { code: hidden?.code.slice(0, 100), message: hidden?.message.slice(0, 500) };
  const client = hasLeft && { clientLeft: true };
  const entry = { requestId, operation, outcome, ...client, ...details, ...body, status };
  log.warn(entry, 'REST call failed');
}
