import type { Dispatcher } from 'undici';
import { CancelledError } from '../../contract/error.ts';
import type {
  Caller,
  CallSpan,
  Operation,
  RestRequest,
  ServiceCall,
} from '../../contract/pet-store.ts';
import type { SharedRead } from '../../keys/api-key.ts';
import { atEndOfTurn, type EndOfTurnTask } from '../../limits/end-of-turn.ts';
import { sliceBytes } from '../../limits/slices.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { Attempts } from './attempts.ts';
import type { Deadlines, DueCall } from './deadlines.ts';
import type { Origin } from './origin.ts';
import { consequencesOf, type Failed, isSuccess, type Outcome, toError } from './outcome.ts';
import { parseRetryAfter } from './response.ts';

/** Where calls go, and what they share. */
export interface Service {
  readonly origin: Origin;
  readonly deadlines: Deadlines;
  /** The longest time of a call, retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly metrics: Pick<Metrics, 'retries'>;
  /** Reads the outcome of a call, and resolves or rejects it. */
  readonly completion: { complete(call: RestCall, outcome: Outcome): void };
  /**
   * When a write last ended, as a `performance.now()` timestamp. Later reads must see it, which reads in
   * flight may have missed.
   */
  writtenAt: number;
}

/** Passes on the JSON of a success, and counts how it differs from the contract. */
export type Inspect = (json: unknown) => unknown;

/** What is declared of a success, and how the text of its body is read. */
export interface Success<T = unknown> extends Pick<Operation, 'status' | 'record' | 'list'> {
  readonly read: (text: string, inspect: Inspect) => T;
}

/** What a call is made of. */
export interface RestCallParts {
  readonly service: Service;
  /** The caller that it is made for. */
  readonly caller: Caller;
  /** See `SharedRead`. */
  readonly id: string;
  readonly request: RestRequest;
  /** What is sent. */
  readonly sent: Dispatcher.DispatchOptions;
  readonly success: Success;
  readonly span: CallSpan | undefined;
}

/** A caller that waits for the result. */
interface Waiter {
  readonly caller: Caller;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One REST call: its attempts, its deadline, the callers that wait and what is reported of it. It sends
 * the request again as `consequencesOf` allows, follows no redirect, and never leaves a caller waiting
 * beyond its deadline.
 */
export class RestCall extends Attempts implements ServiceCall, SharedRead, DueCall, EndOfTurnTask {
  readonly parts: RestCallParts;
  readonly id: string;
  readonly caller: Caller;
  readonly operation: string;
  next: DueCall | undefined;
  previous: DueCall | undefined;

  // What is reported of it; its completion sets it.
  outcome: number | string | undefined;
  ms = 0;
  status: number | null = null;
  bytes = 0;
  retries = 0;

  readonly #service: Service;
  readonly #isRead: boolean;
  #waiters: Waiter[] = [];
  /** What the last attempt is, and what became of the one before. */
  #attempt: 'first' | 'again' | 'retry' = 'first';
  #before: Outcome | undefined;
  #timesSentBefore = 0;
  #final: Outcome | undefined;
  #pause: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(parts: RestCallParts) {
    const { service, caller, request, sent } = parts;
    super(service.origin, caller.key, sent, service.timeoutMs);
    this.parts = parts;
    this.id = parts.id;
    this.caller = caller;
    this.operation = request.operation;
    this.#service = service;
    this.#isRead = request.method === 'GET';
  }

  /** Adds a caller that waits for the result. */
  wait(caller: Caller): Promise<unknown> {
    caller.calls.push(this);
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#waiters.push({ caller, resolve, reject });
    return promise;
  }

  /** Sends the request when the limits of the origin allow it. */
  start(): void {
    this.#service.deadlines.add(this);
    this.begin();
  }

  cancel(caller: Caller): void {
    if (this.#isEnded) return;
    const isSentWrite = !this.#isRead && this.timesSent > 0;
    if (isSentWrite && caller.cancelled instanceof CancelledError) return;
    const error = isSentWrite ? toError(this.late, true) : caller.cancelled;
    const isOf = (waiter: Waiter) => waiter.caller === caller;
    const leaving = this.#waiters.filter(isOf);
    this.#waiters = this.#waiters.filter((waiter) => !isOf(waiter));
    for (const { reject } of leaving) reject(error);
    if (!isSentWrite && this.#waiters.length === 0) this.#stop({ why: 'clientLeft' });
  }

  expire(): void {
    this.#stop(this.late);
  }

  /** Passes the result to all callers that wait. */
  resolve(value: unknown): void {
    for (const { resolve } of this.#waiters) resolve(value);
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error);
  }

  /** @param isOver whether the call ends, whatever it could still do */
  protected conclude(outcome: Outcome, isOver = false): void {
    const before = this.#before;
    if (before !== undefined && this.timesSent > this.#timesSentBefore) {
      const after = before.why ?? String(before.status);
      this.#service.metrics.retries.inc({ operation: this.operation, after });
      this.retries++;
      this.#timesSentBefore = this.timesSent;
    }
    const { kind, repeats } = consequencesOf(outcome);
    if (before !== undefined) {
      // A retry that brings no response leaves the callers with the outcome before.
      const isRefused = kind === 'notSent' && repeats === 'none';
      const isMissing = outcome.why !== undefined && outcome.why !== 'unread';
      if (this.#attempt === 'retry' ? isMissing : isRefused) {
        this.#finish(before);
        return;
      }
    } else if (repeats === 'all at once' || (this.#isRead && repeats === 'reads at once')) {
      if (!isOver) {
        this.#repeatAtOnce(outcome);
        return;
      }
    }
    const mayRetry = this.#isRead && repeats !== 'none' && this.#attempt !== 'retry' && !isOver;
    if (mayRetry) this.#retryLater(outcome);
    else if (isSuccess(outcome) && outcome.body.byteLength > sliceBytes) {
      this.readInSlice(() => this.#finish(outcome, true));
    } else this.#finish(outcome);
  }

  #repeatAtOnce(outcome: Outcome): void {
    this.#attempt = 'again';
    this.#before = outcome;
    this.#timesSentBefore = this.timesSent;
    // undici has to return first.
    queueMicrotask(() => this.#isEnded || this.begin());
  }

  /** Sends a read again after a pause, if the deadlines and the limit on retries allow it. */
  #retryLater(outcome: Outcome): void {
    const after = outcome.why === undefined && parseRetryAfter(outcome.headers['retry-after']);
    // The jitter spreads the retries of concurrent calls.
    const pauseMs = Math.max(20 + 80 * Math.random(), after || 0);
    const awaitedUntil = Math.max(...this.#waiters.map(({ caller }) => caller.deadlineAt));
    const isLate = performance.now() + pauseMs >= Math.min(this.deadlineAt, awaitedUntil);
    const { retries } = this.#service.origin;
    if (isLate || retries.take(this.key) !== undefined) {
      this.#finish(outcome);
      return;
    }
    this.releaseBody(false);
    this.#attempt = 'retry';
    this.#before = outcome;
    this.#timesSentBefore = this.timesSent;
    this.#pause = setTimeout(() => this.begin(), pauseMs);
  }

  /** Ends the call, whatever it waits for. */
  #stop(outcome: Failed): void {
    if (this.#isEnded) return;
    const last = this.giveUp(outcome);
    if (outcome.why === 'clientLeft') this.#finish(outcome);
    else this.conclude(last, true);
    this.abort();
  }

  /** Ends the call with this outcome, once. A response is read at the end of the turn, or in its slice. */
  #finish(outcome: Outcome, isInSlice = false): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#final = outcome;
    clearTimeout(this.#pause);
    if (this.#attempt === 'retry') this.#service.origin.retries.release(this.key);
    this.#service.deadlines.remove(this);
    const { reads } = this.key;
    const index = reads.indexOf(this);
    if (index >= 0) reads.splice(index, 1);
    if (outcome.why === undefined && !isInSlice) atEndOfTurn(this);
    else this.onEndOfTurn();
  }

  onEndOfTurn(): void {
    this.#service.completion.complete(this, this.#final as Outcome);
  }

  /**
   * Stops counting the bytes of the body. Those of a large one that is used stay counted until the
   * request of the first caller that waits ends, because its response may refer to them.
   * The call itself, which is reported with that response, lets go of the body.
   */
  releaseBody(isUsed: boolean): void {
    const { bodyBytes } = this.#service.origin;
    const bytes = this.takeBodyBytes();
    const [first] = this.#waiters;
    if (isUsed && bytes > sliceBytes && first !== undefined) first.caller.hold(bodyBytes, bytes);
    else bodyBytes.release(this.key, bytes);
    this.#before = undefined;
    this.#final = undefined;
  }
}
