import type { Dispatcher } from 'undici';
import type {
  Caller,
  CallSpan,
  Operation,
  RestRequest,
  ServiceCall,
} from '../../contract/pet-store.ts';
import type { ApiKey, SharedRead } from '../../limits/api-key.ts';
import { atEndOfTurn, type EndOfTurnTask } from '../../limits/end-of-turn.ts';
import { nextSlice, sliceBytes } from '../../limits/slices.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { TrackedClient } from './connections.ts';
import type { Deadlines, DueCall } from './deadlines.ts';
import type { Origin } from './origin.ts';
import {
  consequencesOf,
  type Failed,
  type Outcome,
  outcomeOfFailure,
  type Responded,
} from './outcome.ts';
import { codingOf, type Decode, decoders, parseRetryAfter } from './response.ts';

/**
 * Limits for the body of an error response. A longer or slower body is truncated, because the
 * status is sufficient.
 */
const errorBodyLimits = { maxBytes: 16 * 1024, timeoutMs: 1000 };

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Where calls go, and what they share. */
export interface Service {
  readonly origin: Origin;
  readonly deadlines: Deadlines;
  /** The longest time of a call, retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly metrics: Pick<Metrics, 'retries'>;
  /** Reads the outcome of a call, and resolves or rejects it. */
  complete(call: RestCall, outcome: Outcome): void;
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
 * One REST call, from its place in the queue to its outcome: undici's handler, with the deadline, the
 * callers that wait and what is reported of it. It sends the request again as `consequencesOf` allows,
 * follows no redirect, and never leaves a caller waiting beyond its deadline. Using the dispatcher
 * directly spares the stream that undici's `request` creates for every body.
 */
export class RestCall
  implements ServiceCall, SharedRead, DueCall, EndOfTurnTask, Dispatcher.DispatchHandler
{
  readonly parts: RestCallParts;
  readonly id: string;
  readonly caller: Caller;
  readonly key: ApiKey;
  readonly operation: string;
  readonly startedAt = performance.now();
  readonly deadlineAt: number;
  next: DueCall | undefined;
  previous: DueCall | undefined;

  // What is reported of it; `complete` sets it.
  outcome: number | string | undefined;
  ms = 0;
  status: number | null = null;
  bytes = 0;
  retries = 0;

  /** Set by the client that takes the request. */
  client: TrackedClient | undefined;
  readonly #service: Service;
  readonly #isRead: boolean;
  #waiters: Waiter[] = [];
  /** What the last attempt is, and what became of the one before. */
  #attempt: 'first' | 'again' | 'retry' = 'first';
  #before: Outcome | undefined;
  #final: Outcome | undefined;
  #pause: NodeJS.Timeout | undefined;
  #timesSent = 0;
  #isEnded = false;

  // The state of an attempt.
  #attemptAt = 0;
  #hasPlace = false;
  #isSettled = true;
  #controller: Controller | undefined;
  #wasSent = false;
  #timesSentBefore = 0;
  /** The status; 0 until the headers arrive. */
  #status = 0;
  /** Whether the body is that of an error, which may be truncated. */
  #isError = false;
  #headers: Headers = {};
  /** The only chunk so far, or a buffer that all chunks are copied into. */
  #body: Buffer = nothing;
  /** The number of bytes of `#body` that were received, and how many of them are counted. */
  #size = 0;
  #counted = 0;
  #errorTimeout: NodeJS.Timeout | undefined;

  constructor(parts: RestCallParts) {
    const { service, caller, request } = parts;
    this.parts = parts;
    this.id = parts.id;
    this.caller = caller;
    this.key = caller.key;
    this.operation = request.operation;
    this.#service = service;
    this.#isRead = request.method === 'GET';
    this.deadlineAt = this.startedAt + service.timeoutMs;
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
    this.#begin();
  }

  cancel(caller: Caller): void {
    if (this.#isEnded || (!this.#isRead && this.#timesSent > 0)) return;
    const isOf = (waiter: Waiter) => waiter.caller === caller;
    const leaving = this.#waiters.filter(isOf);
    this.#waiters = this.#waiters.filter((waiter) => !isOf(waiter));
    for (const { reject } of leaving) reject(caller.cancelled);
    if (this.#waiters.length === 0) this.#stop({ why: 'clientLeft' });
  }

  expire(): void {
    this.#stop({ why: this.#wasSent && !this.#isSettled ? 'timeout' : 'deadline' });
  }

  /** Passes the result to all callers that wait. */
  resolve(value: unknown): void {
    for (const { resolve } of this.#waiters) resolve(value);
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error);
  }

  // An attempt, in the order in which it happens.

  #begin(): void {
    this.#isSettled = false;
    this.#wasSent = false;
    this.#controller = undefined;
    this.#timesSentBefore = this.#timesSent;
    if (performance.now() >= this.deadlineAt) {
      this.#settle({ why: 'deadline' });
      return;
    }
    const refused = this.#service.origin.enter(this);
    if (refused !== undefined) this.#settle({ why: refused, retryAfterMs: 1000 });
  }

  /** Called when the call has its place among those in flight. Returns whether it uses it. */
  send(): boolean {
    const { origin } = this.#service;
    this.#attemptAt = performance.now();
    const refusal = origin.refusal(this.key, this.#attemptAt);
    if (refusal !== undefined) {
      this.#settle(refusal);
      return false;
    }
    this.#hasPlace = true;
    this.#status = 0;
    this.#isError = false;
    this.#headers = {};
    this.#body = nothing;
    this.#size = 0;
    origin.pool.dispatch(this.parts.sent, this);
    return true;
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // A call that was cancelled while its connection opened is dropped now.
    if (!this.#isSettled && performance.now() >= this.deadlineAt) this.expire();
    if (this.#isSettled) return void controller.abort(ended);
    this.#wasSent = true;
    this.#timesSent++;
  }

  onResponseStart(_: Controller, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (status < 300) return;
    this.#isError = true;
    this.#errorTimeout = setTimeout(() => this.#end(), errorBodyLimits.timeoutMs);
  }

  /** Copies chunks into one buffer, because each Buffer has an overhead. */
  onResponseData(_: Controller, chunk: Buffer): void {
    if (this.#isSettled) return;
    if (this.#service.origin.bodyBytes.take(this.key, chunk.byteLength) !== undefined) {
      this.#end({ why: 'noMemory', retryAfterMs: 1000 });
      return;
    }
    this.#counted += chunk.byteLength;
    const start = this.#size;
    this.#size += chunk.byteLength;
    if (start === 0) this.#body = chunk;
    else {
      if (this.#size > this.#body.byteLength) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#size, 4096));
        this.#body.copy(larger, 0, 0, start);
        this.#body = larger;
      }
      chunk.copy(this.#body, start);
    }
    if (this.#isError && this.#size > errorBodyLimits.maxBytes) this.#end();
  }

  onResponseEnd(controller: Controller): void {
    clearTimeout(this.#errorTimeout);
    if (this.client) this.client.wasUsed = true;
    const decode = decoders.get(codingOf(this.#headers));
    if (decode === undefined || this.#size === 0) this.#settle(this.#response());
    else nextSlice().then(() => this.#decode(decode, controller));
  }

  /** Replaces the body by the decoded one, to which the same limits apply. */
  #decode(decode: Decode, controller: Controller): void {
    if (this.#isSettled) return;
    const { maxBodyBytes } = this.#service.origin;
    const maxOutputLength = this.#isError ? errorBodyLimits.maxBytes : maxBodyBytes;
    try {
      const decoded = decode(this.#response().body, { maxOutputLength });
      this.#size = 0;
      this.onResponseData(controller, decoded);
      this.#settle(this.#response());
    } catch (cause) {
      const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      const problem = `body: expected ${isTooLarge ? 'a smaller body' : 'the encoding of its header'}.`;
      this.#end({ why: 'invalid', status: this.#status, problem, cause });
    }
  }

  onResponseError(_: Controller, cause: Error): void {
    const mayBeStale = this.#timesSent === 1 && this.client?.wasUsed === true;
    const failed = outcomeOfFailure(cause, this.#wasSent, this.#status, mayBeStale);
    this.#settle(this.#isError ? this.#response() : failed);
    this.#leave();
  }

  /** Ends the attempt early, with the response if its status is an error. */
  #end(outcome?: Failed): void {
    if (this.#isSettled) return;
    this.#settle(outcome === undefined || this.#isError ? this.#response() : outcome);
    this.#controller?.abort(ended);
  }

  /** The response as far as it has arrived. */
  #response(): Responded {
    const isWhole = this.#size === this.#body.byteLength;
    const body = isWhole ? this.#body : this.#body.subarray(0, this.#size);
    return { status: this.#status, headers: this.#headers, body };
  }

  /** Records the outcome of the attempt, once. Its place is free when undici has let go, too. */
  #settle(outcome: Outcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#errorTimeout);
    if (this.#hasPlace) this.#service.origin.record(this.key, outcome, this.#attemptAt);
    if (this.#controller !== undefined) this.#leave();
    this.#conclude(outcome);
  }

  #leave(): void {
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    this.#service.origin.leave(this.key);
  }

  // What follows from the outcome of an attempt.

  /** @param isOver whether the call ends, whatever it could still do */
  #conclude(outcome: Outcome, isOver = false): void {
    const before = this.#before;
    if (before !== undefined && this.#timesSent > this.#timesSentBefore) {
      const after = before.why ?? String(before.status);
      this.#service.metrics.retries.inc({ operation: this.operation, after });
      this.retries++;
    }
    const { kind, repeats } = consequencesOf(outcome);
    if (before !== undefined) {
      // A retry that brings no response leaves the callers with the outcome before.
      const isRefused = kind === 'notSent' && repeats === 'none';
      if (this.#attempt === 'retry' ? outcome.why !== undefined : isRefused) {
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
    else this.#finish(outcome);
  }

  #repeatAtOnce(outcome: Outcome): void {
    this.#attempt = 'again';
    this.#before = outcome;
    this.#timesSentBefore = this.#timesSent;
    // undici has to return first.
    queueMicrotask(() => this.#isEnded || this.#begin());
  }

  /** Sends a read again after a pause, if its deadline and the limit on retries allow it. */
  #retryLater(outcome: Outcome): void {
    const after = outcome.why === undefined && parseRetryAfter(outcome.headers['retry-after']);
    // The jitter spreads the retries of concurrent calls.
    const pauseMs = Math.max(20 + 80 * Math.random(), after || 0);
    const isLate = performance.now() + pauseMs >= this.deadlineAt;
    const { retries } = this.#service.origin;
    if (isLate || retries.take(this.key) !== undefined) {
      this.#finish(outcome);
      return;
    }
    this.#service.origin.bodyBytes.release(this.key, this.#counted);
    this.#counted = 0;
    this.#attempt = 'retry';
    this.#before = outcome;
    this.#timesSentBefore = this.#timesSent;
    this.#pause = setTimeout(() => this.#begin(), pauseMs);
  }

  /** Ends the call, whatever it waits for. */
  #stop(outcome: Failed): void {
    if (this.#isEnded) return;
    const isClient = outcome.why === 'clientLeft';
    const { origin } = this.#service;
    let last: Outcome = outcome;
    if (!this.#isSettled) {
      this.#isSettled = true;
      clearTimeout(this.#errorTimeout);
      if (this.#hasPlace) {
        if (this.#isError && !isClient) last = this.#response();
        origin.record(this.key, last, this.#attemptAt);
        if (this.#controller !== undefined) this.#leave();
      } else origin.leaveQueue(this);
    }
    if (isClient) this.#finish(outcome);
    else this.#conclude(last, true);
    this.#controller?.abort(ended);
  }

  /** Ends the call with this outcome, once. A response is read at the end of the turn. */
  #finish(outcome: Outcome): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#final = outcome;
    clearTimeout(this.#pause);
    if (this.#attempt === 'retry') this.#service.origin.retries.release(this.key);
    this.#service.deadlines.remove(this);
    const { reads } = this.key;
    const index = reads.indexOf(this);
    if (index >= 0) reads.splice(index, 1);
    if (outcome.why === undefined) atEndOfTurn(this);
    else this.onEndOfTurn();
  }

  onEndOfTurn(): void {
    this.#service.complete(this, this.#final as Outcome);
  }

  /**
   * Stops counting the bytes of the body. Those of a large one that is used stay counted until the
   * request of the first caller that waits ends, because its response may refer to them.
   * The call itself, which is reported with that response, lets go of the body.
   */
  releaseBody(isUsed: boolean): void {
    const [first] = this.#waiters;
    if (isUsed && this.#counted > sliceBytes && first !== undefined) {
      first.caller.hold(this.#service.origin.bodyBytes, this.#counted);
    } else this.#service.origin.bodyBytes.release(this.key, this.#counted);
    this.#counted = 0;
    this.#body = nothing;
    this.#before = undefined;
    this.#final = undefined;
  }
}

const nothing = Buffer.alloc(0);
/** The reason given to undici, which nobody reads. */
const ended = new Error('The call has ended');
