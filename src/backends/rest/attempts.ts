import { type Dispatcher, errors } from 'undici';
import type { ApiKey } from '../../keys/api-key.ts';
import { waitForSlice } from '../../limits/slices.ts';
import type { TrackedClient } from './connections.ts';
import type { Origin } from './origin.ts';
import { type Failed, type Outcome, outcomeOfFailure, type Responded } from './outcome.ts';
import { decodeBody } from './response.ts';

/** A longer or slower body of an error response is truncated: its status is sufficient. */
const errorBodyLimits = { maxBytes: 16 * 1024, timeoutMs: 1000 };

type Controller = Dispatcher.DispatchController;
type Headers = Responded['headers'];

/**
 * Attempts to send a call, one after the other, each from its place in the queue to its outcome:
 * undici's handler. Using the dispatcher directly spares the stream that undici's `request` creates for
 * every body.
 */
export abstract class Attempts implements Dispatcher.DispatchHandler {
  readonly key: ApiKey;
  /** As `performance.now()` timestamps, of the call. */
  readonly startedAt: number;
  readonly deadlineAt: number;
  /** Set by the client that takes the request. */
  client: TrackedClient | undefined;
  /** How often the request has been sent, by all attempts. */
  protected timesSent = 0;
  /** Whether there is no attempt now, and whether the last one was sent. */
  #isSettled = true;
  #wasSent = false;
  readonly #origin: Origin;
  readonly #request: Dispatcher.DispatchOptions;
  /** When it got its place among the calls in flight. */
  #placedAt = 0;
  #hasPlace = false;
  #controller: Controller | undefined;
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
  /** Ends the wait of a complete response for its slice; undefined without one. */
  #leaveSlices: (() => void) | undefined;

  constructor(origin: Origin, key: ApiKey, request: Dispatcher.DispatchOptions, timeoutMs: number) {
    this.#origin = origin;
    this.key = key;
    this.#request = request;
    this.startedAt = performance.now();
    this.deadlineAt = this.startedAt + timeoutMs;
  }

  /** Decides what follows from the outcome of an attempt. */
  protected abstract conclude(outcome: Outcome): void;

  /** Ends the call, because its deadline has passed. */
  abstract expire(): void;

  /** Begins an attempt, which is sent when the limits of the origin allow it. */
  protected begin(): void {
    this.#isSettled = false;
    this.#wasSent = false;
    this.#controller = undefined;
    if (performance.now() >= this.deadlineAt) {
      this.#settle({ why: 'deadline' });
      return;
    }
    const refusedBy = this.#origin.places.enter(this);
    const why = refusedBy === 'key' ? 'keyQueueFull' : 'queueFull';
    if (refusedBy !== undefined) this.#settle({ why, retryAfterMs: 1000 });
  }

  /** Called when the call has its place among those in flight. Returns whether it uses it. */
  send(): boolean {
    this.#placedAt = performance.now();
    const refusal = this.#origin.refusal(this.key, this.#placedAt);
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
    this.#origin.pool.dispatch(this.#request, this);
    return true;
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // A call that was cancelled while its connection opened is dropped now.
    if (!this.#isSettled && performance.now() >= this.deadlineAt) this.expire();
    if (this.#isSettled) return void controller.abort(ended);
    this.#wasSent = true;
    this.timesSent++;
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
    if (this.#origin.bodyBytes.take(this.key, chunk.byteLength) !== undefined) {
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
    if (this.#size === 0 || !this.#headers['content-encoding']) this.#settle(this.#response());
    else this.readInSlice(() => this.#decode(controller));
  }

  /** Decodes or reads a complete response in a slice, unless `giveUp` is called before. */
  protected readInSlice(read: () => void): void {
    this.#leaveSlices = waitForSlice(this.key, () => {
      this.#leaveSlices = undefined;
      read();
    });
  }

  /** Replaces the body by the decoded one, to which the same limits apply. */
  #decode(controller: Controller): void {
    const maxBytes = this.#isError ? errorBodyLimits.maxBytes : this.#origin.maxBodyBytes;
    const decoded = decodeBody(this.#response(), maxBytes);
    if ('why' in decoded) return void this.#end(decoded);
    this.#size = 0;
    this.onResponseData(controller, decoded);
    this.#settle(this.#response());
  }

  onResponseError(controller: Controller, cause: Error): void {
    // undici reads a blank after Content-Length (RFC 9110, section 5.5) as a digit.
    const isMiscounted = cause instanceof errors.ResponseContentLengthMismatchError;
    const isWhole = isMiscounted && Number(this.#headers['content-length']) === this.#size;
    if (isWhole) return void this.onResponseEnd(controller);
    const mayBeStale = this.timesSent === 1 && this.client?.wasUsed === true;
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
    if (this.#hasPlace) this.#origin.record(this.key, outcome, this.#placedAt);
    if (this.#controller !== undefined) this.#leave();
    this.conclude(outcome);
  }

  /**
   * Gives up the attempt, if there is one, without `conclude`. Returns its outcome: the response, if its
   * status is an error and the client waits for it. Call `abort` when the call has ended.
   */
  protected giveUp(outcome: Failed): Outcome {
    this.#leaveSlices?.();
    if (this.#isSettled) return outcome;
    this.#isSettled = true;
    clearTimeout(this.#errorTimeout);
    if (!this.#hasPlace) {
      this.#origin.places.leaveQueue(this);
      return outcome;
    }
    const last = this.#isError && outcome.why !== 'clientLeft' ? this.#response() : outcome;
    this.#origin.record(this.key, last, this.#placedAt);
    if (this.#controller !== undefined) this.#leave();
    return last;
  }

  /** The outcome if its time is over: it is unread, waits for a place or connection, or was sent. */
  protected get late(): Failed {
    if (this.#leaveSlices) return { why: 'unread', status: this.#status };
    if (this.#isSettled || !this.#hasPlace) return { why: 'deadline' };
    if (this.#wasSent) return { why: 'timeout' };
    // The service is not to blame for a call that has waited longer for its place.
    const isShort = this.deadlineAt - this.#placedAt < this.#placedAt - this.startedAt;
    return { why: isShort ? 'deadline' : 'connectTimeout' };
  }

  /** Lets undici end the request. */
  protected abort(): void {
    this.#controller?.abort(ended);
  }

  #leave(): void {
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    this.#origin.places.leave(this.key);
  }

  /** Stops counting the bytes of the body, and lets go of it. Returns how many there were. */
  protected takeBodyBytes(): number {
    const counted = this.#counted;
    this.#counted = 0;
    this.#body = nothing;
    return counted;
  }
}

const nothing = Buffer.alloc(0);
/** The reason given to undici, which nobody reads. */
const ended = new Error('The call has ended');
