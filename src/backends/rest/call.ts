import { AsyncLocalStorage } from 'node:async_hooks';
import type { Dispatcher } from 'undici';
import type { Caller, ServiceCall } from '../../contract/caller.ts';
import { CancelledError } from '../../contract/error.ts';
import { isIdempotent, isSafe } from '../../contract/operation.ts';
import type { ApiKey, KeyedCaller } from '../../keys/api-key.ts';
import { atEndOfTurn, waitForTurn } from '../../limits/turns.ts';
import { requestCreated, type TrackedClient } from './connections.ts';
import type { DueCall } from './deadlines.ts';
import { type CallDetails, complete, countRetry, type EndedCall, type Outcome } from './ending.ts';
import { consequencesOf, type Failed, latest, outcomeOfFailure, toError } from './outcome.ts';
import { errorBodyLimits, isLarge, isMiscounted, pauseMsBefore, Received } from './response.ts';

/**
 * One REST call: its attempts, its deadline and the callers that wait. It follows no redirect. It is
 * undici's handler: using the dispatcher spares the stream that `request` creates for every body.
 *
 * | state      | has a place | waits for                         | then            |
 * | ---------- | ----------- | --------------------------------- | --------------- |
 * | queued     |             | a place among those in flight     | connecting or * |
 * | connecting | yes         | undici, to send the request       | sent or *       |
 * | sent       | yes         | the response                      | *               |
 * | pausing    |             | the next attempt                  | queued          |
 * | reading    |             | a turn, to decode or read a body | ended           |
 * | dropped    | yes         | undici, to give up connecting     | ended           |
 * | ended      |             | the end of the turn, or nothing   |                 |
 *
 * (*) After an outcome: pausing, reading or ended, as its consequences are. When its deadline passes or
 * nobody waits any more, a call that is connecting is dropped, and any other has ended.
 */
export class RestCall implements EndedCall, Dispatcher.DispatchHandler {
  readonly details: CallDetails;
  readonly id: string;
  readonly caller: KeyedCaller;
  readonly key: ApiKey;
  readonly operation: string;
  readonly startedAt = performance.now();
  readonly deadlineAt: number;
  next: DueCall | undefined;
  previous: DueCall | undefined;
  onEnd: ServiceCall['onEnd'];
  outcome: number | string | undefined;
  ms = 0;
  status: number | null = null;
  bytes = 0;
  retries = 0;
  waiters: EndedCall['waiters'] = [];
  /** The async context of the caller, by which instrumentation of a host knows it. */
  readonly #inContext = requestCreated.hasSubscribers ? AsyncLocalStorage.snapshot() : undefined;
  /** Set by the client that takes the request. */
  client: TrackedClient | undefined;
  #state: 'queued' | 'connecting' | 'sent' | 'pausing' | 'reading' | 'dropped' | 'ended' = 'queued';
  /** The outcome of the attempt before this one; once the call has ended, that of the call. */
  #last: Outcome | undefined;
  #timesSent = 0;
  /** When it got its place, as a `performance.now()` timestamp. */
  #placedAt = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #response: Received | undefined;
  #timeout: NodeJS.Timeout | undefined;
  #leaveTurns: (() => void) | undefined;
  /** The pause before the last retry; undefined before the first. */
  #pause: NodeJS.Timeout | undefined;

  constructor(details: CallDetails) {
    this.details = details;
    this.id = details.id;
    this.caller = details.caller;
    this.key = details.caller.key;
    this.operation = details.request.operation;
    this.deadlineAt = this.startedAt + details.service.timeoutMs;
  }

  wait(caller: Caller): Promise<unknown> {
    caller.calls.push(this);
    const { promise, resolve, reject } = Promise.withResolvers();
    this.waiters.push({ caller, resolve, reject });
    return promise;
  }

  /** Begins an attempt, which is sent when the limits of the origin allow it. */
  start(): void {
    this.#state = 'queued';
    if (performance.now() >= this.deadlineAt) return void this.#settle({ why: 'deadline' });
    const refusedBy = this.details.service.origin.places.enter(this);
    const why = refusedBy === 'key' ? 'keyQueueFull' : 'queueFull';
    if (refusedBy !== undefined) this.#settle({ why, retryAfterMs: 1000 });
  }

  /** Called when the call has its place among those in flight. Returns whether it uses it. */
  send(): boolean {
    const { service, sent } = this.details;
    this.#placedAt = performance.now();
    const refusal = service.origin.refusal(this.key, this.#placedAt);
    if (refusal !== undefined) this.#settle(refusal);
    else {
      this.#state = 'connecting';
      this.#response = undefined;
      if (this.#inContext) this.#inContext(() => service.origin.pool.dispatch(sent, this));
      else service.origin.pool.dispatch(sent, this);
    }
    return refusal === undefined;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (performance.now() >= this.deadlineAt) this.expire();
    if (this.#state === 'dropped') return void controller.abort(new CancelledError());
    this.#state = 'sent';
    this.#controller = controller;
    this.#timesSent++;
  }

  onResponseStart(_: unknown, status: number, headers: Received['headers']): void {
    if (status < 200) return;
    const response = new Received(status, headers, this.details.service.origin, this.key);
    this.#response = response;
    if (status < 300) return;
    this.#timeout = setTimeout(() => this.#cutOff(response), errorBodyLimits.timeoutMs);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    const early = this.#state === 'sent' ? this.#response?.add(chunk) : undefined;
    if (early !== undefined) this.#cutOff(early);
  }

  onResponseEnd(): void {
    if (this.client) this.client.wasUsed = true;
    this.#settle(this.#response as Received);
  }

  onResponseError(_: unknown, cause: Error): void {
    if (this.#state === 'dropped') {
      this.#state = 'ended';
      this.details.service.origin.places.leave(this.key);
    }
    if (this.#state !== 'connecting' && this.#state !== 'sent') return;
    if (this.#response && isMiscounted(this.#response, cause)) return void this.onResponseEnd();
    const mayBeStale = this.#timesSent === 1 && this.client?.wasUsed === true;
    const status = this.#response?.status ?? 0;
    this.#settle(outcomeOfFailure(cause, this.#state === 'sent', status, mayBeStale));
  }

  #cutOff(outcome: Outcome): void {
    this.#settle(outcome);
    this.#controller?.abort(new CancelledError());
  }

  /** Ends the attempt, if there is one, with its outcome, and the call if it `isOver`. */
  #settle(settledBy: Outcome, isOver = false): void {
    const { service, request } = this.details;
    const before = this.#last;
    const wasSent = this.#state === 'sent';
    const hasLeft = settledBy.why === 'clientLeft';
    // An error response is the outcome although it is not complete.
    const received = wasSent && !hasLeft ? this.#response : undefined;
    const outcome = received && received.status >= 300 ? received : settledBy;
    clearTimeout(this.#timeout);
    if (wasSent || this.#state === 'connecting') {
      service.origin.record(this.key, outcome, this.#placedAt);
      if (wasSent || !isOver) service.origin.places.leave(this.key);
    }
    if (before && wasSent && !hasLeft) countRetry(this, before);
    const { kind, repeats } = consequencesOf(outcome);
    const isRead = isSafe(request.method);
    const mayRepeat = isIdempotent(request.method) || request.idempotencyKey !== undefined;
    // The service has the key in flight (draft-ietf-httpapi-idempotency-key-header-07, section 2.7).
    const isInFlight = outcome.why === undefined && outcome.status === 409 && request.mayBeRepeated;
    const isRetry = this.#pause !== undefined;
    const isRefused = kind === 'notSent' && repeats === 'none';
    const isMissing =
      outcome.why !== undefined && outcome.why !== 'unread' && (isRead || kind === 'notSent');
    const isAtOnce = repeats === 'all at once' || (mayRepeat && repeats === 'reads at once');
    // A retry that brings no response leaves the callers with the outcome before.
    if (before && !hasLeft && (isRetry ? isMissing : isRefused)) this.#finish(before);
    else if (isOver) this.#finish(outcome);
    else if (before === undefined && isAtOnce) {
      this.#state = 'pausing';
      this.#last = outcome;
      // undici has to return first.
      queueMicrotask(() => this.#state === 'pausing' && this.start());
    } else if (isInFlight || (mayRepeat && repeats !== 'none' && !isRetry)) {
      this.#retryLater(outcome);
    } else if (isLarge(outcome)) {
      this.#state = 'reading';
      this.#leaveTurns = waitForTurn(this.key, () => this.#finish(outcome));
    } else this.#finish(outcome);
  }

  /** Sends a call that may be repeated once more after a pause, if the deadlines and the limit on retries allow it. */
  #retryLater(outcome: Outcome): void {
    const pauseMs = pauseMsBefore(outcome, this.#timesSent);
    const deadlines = this.waiters.map(({ caller }) => caller.deadlineAt);
    // Repetitions of a write may wait longer than its caller.
    if (this.details.request.mayBeRepeated) deadlines.push(this.deadlineAt);
    const isLate = performance.now() + pauseMs >= Math.min(this.deadlineAt, Math.max(...deadlines));
    const { retries } = this.details.service.origin;
    if (isLate || (!this.#pause && retries.take(this.key))) return void this.#finish(outcome);
    this.#response?.release();
    this.#state = 'pausing';
    this.#last = latest(this.#last, outcome, this.details.request.method);
    this.#pause = setTimeout(() => this.start(), pauseMs);
  }

  /** Ends the call with this outcome. A response is read at the end of the turn, or in one of its own. */
  #finish(settledBy: Outcome): void {
    const outcome = latest(this.#last, settledBy, this.details.request.method);
    const isInTurn = this.#state === 'reading';
    this.#state = 'ended';
    this.#last = outcome;
    clearTimeout(this.#pause);
    if (this.#pause !== undefined) this.details.service.origin.retries.release(this.key);
    if (outcome.why === undefined && !isInTurn) atEndOfTurn(this);
    else this.onEndOfTurn();
  }

  /** Completes the call. Never throws: other calls wait for their turn. */
  onEndOfTurn(): void {
    complete(this, this.#last as Outcome);
    this.#response?.release();
    // The call itself is reported with the response to its request.
    this.#last = undefined;
    this.#response = undefined;
  }

  cancel(caller: Caller): void {
    if (this.#state === 'dropped' || this.#state === 'ended') return;
    const isSentWrite = !isSafe(this.details.request.method) && this.#timesSent > 0;
    if (isSentWrite && caller.cancelled instanceof CancelledError) return;
    const late: Failed = this.#state === 'reading' ? this.#late : { why: 'timeout' };
    const error = isSentWrite ? toError(late) : caller.cancelled;
    for (const waiter of this.waiters) if (waiter.caller === caller) waiter.reject(error);
    this.waiters = this.waiters.filter((waiter) => waiter.caller !== caller);
    if (!isSentWrite && this.waiters.length === 0) this.expire({ why: 'clientLeft' });
  }

  /** The outcome if its time is over now. */
  get #late(): Failed {
    if (this.#state === 'reading') return { why: 'unread', status: this.#response?.status ?? 0 };
    if (this.#state === 'sent') return { why: 'timeout' };
    // The service is not to blame for a call that has waited longer for its place.
    const isShort = this.deadlineAt - this.#placedAt < this.#placedAt - this.startedAt;
    return { why: this.#state !== 'connecting' || isShort ? 'deadline' : 'connectTimeout' };
  }

  expire(outcome: Failed = this.#late): void {
    const state = this.#state;
    if (state === 'dropped' || state === 'ended') return;
    if (state === 'queued') this.details.service.origin.places.leaveQueue(this);
    if (state === 'reading') this.#leaveTurns?.();
    this.#settle(outcome, true);
    if (state === 'connecting') this.#state = 'dropped';
    if (state === 'sent') this.#controller?.abort(new CancelledError());
  }
}
