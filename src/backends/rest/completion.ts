import type { Dispatcher } from 'undici';
import { CancelledError, ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import type { Caller, CallSpan, RestRequest, ServiceCall } from '../../contract/pet-store.ts';
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
export interface Service {
  readonly origin: Origin;
  readonly deadlines: Deadlines;
  /** The longest time of a call, retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly completion: Completion;
  /** When a write last ended, as by `performance.now()`. Later reads don't join those before it. */
  writtenAt: number;
}

/** Reads the text of the body of a success. @throws InvalidResponseError */
export type Read<T = unknown> = (text: string) => T;

/** What a call is made of: `id` as in `SharedRead`, and `sent` for undici. */
export interface CallDetails extends Pick<SharedRead, 'id'> {
  readonly service: Service;
  readonly caller: KeyedCaller;
  readonly request: RestRequest;
  readonly sent: Dispatcher.DispatchOptions;
  readonly read: Read;
  readonly span: CallSpan | undefined;
}

/** A call that has ended, as its completion sees it: who waits for it, and what is reported of it. */
export type EndedCall = Reported &
  SharedRead &
  DueCall & {
    readonly key: ApiKey;
    readonly details: CallDetails;
    waiters: (Omit<PromiseWithResolvers<unknown>, 'promise'> & { readonly caller: Caller })[];
  };
type Reported = { -readonly [Field in keyof ServiceCall]: ServiceCall[Field] };

/** What became of a call, with the response as it has arrived. */
export type Outcome = Received | Failed;

/** Reads and reports the outcomes of calls, and passes them to the callers that wait. */
export class Completion {
  readonly #keys: ApiKeys;
  readonly #log: Log;
  readonly #metrics: Reporting['metrics'];

  constructor(keys: ApiKeys, telemetry: Reporting) {
    this.#keys = keys;
    this.#log = telemetry.log;
    this.#metrics = telemetry.metrics;
  }

  /** Counts that a call was sent again after an outcome. */
  countRetry(call: EndedCall, { why, status }: Outcome): void {
    this.#metrics.retries.inc({ operation: call.operation, after: why ?? String(status) });
    call.retries++;
  }

  /** Resolves or rejects a call with its outcome. Never throws: other calls wait for their turn. */
  complete(call: EndedCall, outcome: Outcome): void {
    const { request, service } = call.details;
    if (request.method === 'POST') service.writtenAt = performance.now();
    service.deadlines.remove(call);
    const { reads } = call.key;
    if (reads.includes(call)) reads.splice(reads.indexOf(call), 1);
    try {
      const value = this.#read(call, outcome);
      if (outcome.why === undefined) outcome.release(call.waiters[0]?.caller);
      call.onEnd?.(value);
      for (const { resolve } of call.waiters) resolve(value);
    } catch (error) {
      // The callers log it.
      if (outcome.why === undefined) outcome.release();
      call.onEnd?.(error);
      for (const { reject } of call.waiters) reject(error);
    }
  }

  /** Returns the value of a success, or @throws the error of the outcome. */
  #read(call: EndedCall, outcome: Outcome): unknown {
    const response = isSuccess(outcome) ? outcome.decode() : outcome;
    if (!isSuccess(response)) throw this.#failed(call, response);
    const { read, request } = call.details;
    const { status } = response;
    let value: unknown;
    try {
      value = read(readText(response));
    } catch (error) {
      if (error instanceof InvalidResponseError) {
        const { message: problem, cause } = error;
        throw this.#failed(call, { why: 'invalid', status, problem, cause }, response);
      }
      this.#report(call, status, response);
      throw error;
    }
    // Another path may need no key.
    if (request.template !== undefined) this.#keys.accept(call.key);
    this.#report(call, status, response);
    return value;
  }

  /** Reports and logs a call that failed, and returns its error. */
  #failed(call: EndedCall, outcome: Outcome, response?: Responded): Error {
    const { caller, operation, key, details } = call;
    const { kind, label, isLogged } = consequencesOf(outcome);
    let error: Error;
    if (outcome.why === undefined) {
      const decoded = outcome.decode();
      const readable = decoded.why === undefined ? decoded : outcome;
      const response = readError(readable, key.credential, details.request.mayBeRepeated);
      error = response;
      // The contract has a 404 only for a pet, by the service that has accepted the key.
      const isNoPet = outcome.status === 404 && operation === 'getPet' && response.body;
      if (isNoPet) this.#keys.accept(key);
      if (outcome.status === 401) this.#keys.refuse(key);
      this.#report(call, outcome.status, readable);
    } else {
      error = toError(outcome);
      this.#report(call, label, response);
    }
    // Only a write goes on without the caller that it was started for.
    const hasLeft = details.request.method === 'POST' && caller.cancelled instanceof CancelledError;
    const { requestId } = caller;
    if (isLogged) logFailure(this.#log, { requestId, hasLeft }, operation, kind, error);
    return error;
  }

  /** Reports the end of a call, with its complete response if there is one. */
  #report(call: EndedCall, outcome: number | string, response?: Responded): void {
    call.ms = performance.now() - call.startedAt;
    call.outcome = outcome;
    if (response !== undefined) {
      call.status = response.status;
      call.bytes = response.body.byteLength;
    }
    this.#metrics.restCalls.observe({ operation: call.operation, status: outcome }, call.ms / 1000);
    call.details.span?.end(outcome, call);
  }
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
