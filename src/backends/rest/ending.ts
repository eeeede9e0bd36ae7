import type { Dispatcher } from 'undici';
import type { Caller, CallSpan, ServiceCall } from '../../contract/caller.ts';
import { CancelledError, ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import { isSafe } from '../../contract/operation.ts';
import type { RestRequest } from '../../contract/request.ts';
import type { ApiKey, KeyedCaller, SharedRead } from '../../keys/api-key.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Reporting } from '../../telemetry/telemetry.ts';
import { ConnectionFailed } from './connections.ts';
import type { Deadlines, DueCall } from './deadlines.ts';
import type { Origin } from './origin.ts';
import { consequencesOf, type Failed, isSuccess, type Responded, toError } from './outcome.ts';
import { type Received, readError, readText } from './response.ts';

/** Where calls go, and what they share. */
export interface Service extends Reporting {
  readonly origin: Origin;
  readonly deadlines: Deadlines;
  /** The longest time of a call, retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly keys: ApiKeys;
  /** When a write last ended, as by `performance.now()`. Later reads don't join those before it. */
  writtenAt: number;
}

/** What a call is made of: `id` as in `SharedRead`, and `sent` for undici. */
export interface CallDetails extends Pick<SharedRead, 'id'> {
  readonly service: Service;
  readonly caller: KeyedCaller;
  readonly request: RestRequest;
  readonly sent: Dispatcher.DispatchOptions;
  readonly read: Read;
  readonly span: CallSpan | undefined;
}

/** What became of an attempt, with the response as it has arrived. */
export type Outcome = Received | Failed;

/** A call that ends: who waits for it, and what is reported of it. */
export type EndedCall = Reported &
  SharedRead &
  DueCall & {
    readonly key: ApiKey;
    readonly details: CallDetails;
    waiters: (Omit<PromiseWithResolvers<unknown>, 'promise'> & { readonly caller: Caller })[];
  };
type Reported = { -readonly [Field in keyof ServiceCall]: ServiceCall[Field] };

/** Reads the text of the body of a success. @throws InvalidResponseError */
export type Read<T = unknown> = (text: string) => T;

/** How a call ends, for its callers and in its report: `label` is the HTTP status or the kind of failure. */
interface Ending {
  readonly result: unknown;
  readonly label: number | string;
  readonly response?: Responded;
  /** Undefined if it is not known. */
  readonly isKeyAccepted?: boolean | undefined;
  /** What became of the call, if its failure is logged. */
  readonly logged?: string | undefined;
}

function readOutcome(outcome: Outcome, read: Read, request: RestRequest, apiKey: string): Ending {
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
  { acceptsKeyWith404, mayBeRepeated }: RestRequest,
  apiKey: string,
): Ending {
  const decoded = received.decode();
  const response = decoded.why === undefined ? decoded : received;
  const { status } = response;
  const result = readError(response, apiKey, mayBeRepeated);
  const hasBody = result instanceof ErrorResponse && result.body !== undefined;
  const isMissing = status === 404 && acceptsKeyWith404 && hasBody;
  const isKeyAccepted = status === 401 ? false : isMissing || undefined;
  const { kind, isLogged } = consequencesOf(received);
  return { result, label: status, response, isKeyAccepted, logged: isLogged ? kind : undefined };
}

/** Reads and reports the outcome of a call, and passes it to the callers that wait. Never throws. */
export function complete(call: EndedCall, outcome: Outcome): void {
  const { service, request, read } = call.details;
  if (!isSafe(request.method)) service.writtenAt = performance.now();
  service.deadlines.remove(call);
  const { reads, credential } = call.key;
  if (reads.includes(call)) reads.splice(reads.indexOf(call), 1);
  let result: unknown;
  try {
    const ending = readOutcome(outcome, read, request, credential);
    ({ result } = ending);
    report(call, ending);
  } catch (error) {
    result = error;
  }
  const isFailed = result instanceof Error;
  // A large body stays counted until the request of its reader ends.
  if (outcome.why === undefined) outcome.release(isFailed ? undefined : call.waiters[0]?.caller);
  call.onEnd?.(result);
  for (const { resolve, reject } of call.waiters) (isFailed ? reject : resolve)(result);
}

function report(call: EndedCall, { result, label, response, isKeyAccepted, logged }: Ending): void {
  const { caller, operation, key, details } = call;
  const { service, request, span } = details;
  if (isKeyAccepted) service.keys.accept(key);
  else if (isKeyAccepted === false) service.keys.refuse(key);
  call.ms = performance.now() - call.startedAt;
  call.outcome = label;
  if (response !== undefined) {
    call.status = response.status;
    call.bytes = response.body.byteLength;
  }
  service.metrics.restCalls.observe({ operation, status: label }, call.ms / 1000);
  span?.end(label, call);
  if (logged === undefined) return;
  // Only a write goes on without the caller that it was started for.
  const hasLeft = !isSafe(request.method) && caller.cancelled instanceof CancelledError;
  const { requestId } = caller;
  logFailure(service.log, { requestId, hasLeft }, operation, logged, result as Error);
}

/** Counts that a call was sent again after an outcome. */
export function countRetry(call: EndedCall, { why, status }: Outcome): void {
  const after = why ?? String(status);
  call.details.service.metrics.retries.inc({ operation: call.operation, after });
  call.retries++;
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
  const { name, code, message } = (deepest ?? {}) as NodeJS.ErrnoException;
  // Only OpenSSL's words describe a certificate for whose problem, such as a weak key, Node has no code.
  const details = { reason, causeName: name, causeCode: code === 'UNSPECIFIED' ? message : code };
  const { status, hidden }: Partial<ErrorResponse> = error instanceof ErrorResponse ? error : {};
  // Shortened, so that the line fits into an atomic write to a pipe.
  const body = { code: hidden?.code.slice(0, 100), message: hidden?.message.slice(0, 500) };
  const client = hasLeft && { clientLeft: true };
  const entry = { requestId, operation, outcome, ...client, ...details, ...body, status };
  log.warn(entry, 'REST call failed');
}
