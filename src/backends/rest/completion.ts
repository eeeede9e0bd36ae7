import { driftOf } from '../../contract/drift.ts';
import { CancelledError, ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import type { Caller } from '../../contract/pet-store.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Reporting } from '../../telemetry/telemetry.ts';
import type { RestCall } from './call.ts';
import { ConnectionFailed } from './connections.ts';
import { createDriftReport } from './drift-report.ts';
import { consequencesOf, isSuccess, type Outcome, type Responded, toError } from './outcome.ts';
import { isUnclearType, readError, readText } from './response.ts';

/** What follows from the outcome of a call: it is read, reported and passed to the callers that wait. */
export class Completion {
  readonly #keys: ApiKeys;
  readonly #log: Log;
  readonly #metrics: Reporting['metrics'];
  readonly #reportDrift: ReturnType<typeof createDriftReport>;

  constructor(keys: ApiKeys, telemetry: Reporting) {
    this.#keys = keys;
    this.#log = telemetry.log;
    this.#metrics = telemetry.metrics;
    this.#reportDrift = createDriftReport(telemetry);
  }

  /** Reads the outcome of a call, and resolves or rejects it. Never throws: other calls wait for their turn. */
  complete(call: RestCall, outcome: Outcome): void {
    const { request, service } = call.parts;
    if (request.method === 'POST') service.writtenAt = performance.now();
    try {
      if (isSuccess(outcome)) this.#readSuccess(call, outcome);
      else this.#fail(call, outcome);
    } catch (error) {
      // The callers log it.
      call.releaseBody(false);
      call.reject(error);
    }
  }

  #readSuccess(call: RestCall, response: Responded): void {
    const { caller, operation, parts } = call;
    const { request, success } = parts;
    const { status } = response;
    if (success.status !== undefined && status !== success.status) {
      this.#reportDrift(caller, operation, [{ kind: 'status', field: String(status) }]);
    }
    let value: unknown;
    try {
      value = success.read(readText(response), (json) => {
        this.#reportDrift(caller, operation, driftOf(success, json, request.path));
        return json;
      });
    } catch (error) {
      this.#failToRead(call, response, error);
      return;
    }
    if (isUnclearType(response.headers)) {
      this.#reportDrift(caller, operation, [{ kind: 'header', field: 'content-type' }]);
    }
    // Another path may need no key.
    if (parts.request.template !== undefined) this.#keys.accept(call.key);
    this.#report(call, status, response);
    call.releaseBody(true);
    call.resolve(value);
  }

  #failToRead(call: RestCall, response: Responded, error: unknown): void {
    if (error instanceof InvalidResponseError) {
      const { message: problem, cause } = error;
      this.#fail(call, { why: 'invalid', status: response.status, problem, cause }, response);
    } else {
      this.#report(call, response.status, response);
      call.releaseBody(false);
      call.reject(error);
    }
  }

  #fail(call: RestCall, outcome: Outcome, response?: Responded): void {
    const { caller, operation, key, parts } = call;
    const { kind, label, isLogged } = consequencesOf(outcome);
    let error: Error;
    if (outcome.why === undefined) {
      const response = readError(outcome, key.credential);
      error = response;
      // The contract has a 404 only for an animal, by the service that has accepted the key.
      const isNoPet = outcome.status === 404 && operation === 'getPet' && response.body;
      if (isNoPet) this.#keys.accept(key);
      if (outcome.status === 401) this.#keys.refuse(key);
      this.#report(call, outcome.status, outcome);
    } else {
      error = toError(outcome, parts.request.method === 'POST');
      this.#report(call, label, response);
    }
    call.releaseBody(false);
    // Only a write goes on without the caller that it was started for.
    const hasLeft = parts.request.method === 'POST' && caller.cancelled instanceof CancelledError;
    const { requestId } = caller;
    if (isLogged) logFailure(this.#log, { requestId, hasLeft }, operation, kind, error);
    call.reject(error);
  }

  /** Reports the end of a call, with its complete response if there is one. */
  #report(call: RestCall, outcome: number | string, response?: Responded): void {
    call.ms = performance.now() - call.startedAt;
    call.outcome = outcome;
    if (response !== undefined) {
      call.status = response.status;
      call.bytes = response.body.byteLength;
    }
    this.#metrics.restCalls.observe({ operation: call.operation, status: outcome }, call.ms / 1000);
    call.parts.span?.end(outcome, call);
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
