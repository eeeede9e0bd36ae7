import type { Dispatcher } from 'undici';
import { endOfTurn } from '../../end-of-turn.ts';
import type { KeyBudget } from '../../key-budget.ts';
import { turnBytes } from '../../turns.ts';
import { BodyBudgetExceeded, BodyInterrupted } from './faults.ts';

/** Cancels a call: at its deadline, or when its caller disconnects. */
export interface Cancellation {
  /** The reason; undefined until the call is cancelled. */
  readonly reason: Error | undefined;
  /** The only listener; called once with the reason. */
  onCancel: ((reason: Error) => void) | undefined;
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** A complete response of the REST service. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Releases the budget of a large body, after its contents are no longer used. */
  readonly releaseBody: (() => void) | undefined;
}

/**
 * Limits for the body of an error response. A longer or slower body is truncated, because the
 * status is sufficient.
 */
const errorBodyLimits = { maxBytes: 16 * 1024, timeoutMs: 1000 };

/**
 * Sends one call and collects the complete response. Does not follow redirects. Uses the dispatcher
 * directly, because undici's `request` creates a stream for every body. `bucket` is that of the key
 * whose budget the body uses.
 * @throws the error of undici before the headers, `BodyInterrupted` after them,
 *   `BodyBudgetExceeded`, or the reason of the cancellation.
 */
export function dispatchCall(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  cancellation: Cancellation,
  budget: KeyBudget,
  bucket: number,
): Promise<RestResponse> {
  return new Promise((resolve, reject) => {
    if (cancellation.reason) reject(cancellation.reason);
    else
      dispatcher.dispatch(
        options,
        new ResponseCollector(cancellation, budget, bucket, resolve, reject),
      );
  });
}

class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #cancellation: Cancellation;
  readonly #budget: KeyBudget;
  readonly #bucket: number;
  readonly #resolve: (response: RestResponse) => void;
  readonly #reject: (error: unknown) => void;
  /** The only chunk so far, or a buffer that all chunks are copied into. */
  #body: Buffer = nothing;
  #isOwnBuffer = false;
  /** The number of bytes of `#body` that were received. */
  #size = 0;
  /** The reserved bytes of the budget. */
  #reserved = 0;
  #isSettled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Headers = {};
  #errorTimeout: NodeJS.Timeout | undefined;

  constructor(
    cancellation: Cancellation,
    budget: KeyBudget,
    bucket: number,
    resolve: (response: RestResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#cancellation = cancellation;
    this.#budget = budget;
    this.#bucket = bucket;
    this.#resolve = resolve;
    this.#reject = reject;
    cancellation.onCancel = this.#onCancel;
  }

  /** A call that waits for a connection is rejected immediately, and dropped when it gets one. */
  readonly #onCancel = (reason: Error) => {
    this.#controller?.abort(reason);
    this.#settle();
    if (this.#isError()) this.#succeed();
    else this.#reject(reason);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { reason } = this.#cancellation;
    if (reason) controller.abort(reason);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (this.#isError()) {
      this.#errorTimeout = setTimeout(() => this.#truncate(), errorBodyLimits.timeoutMs);
    }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    const size = this.#size + chunk.byteLength;
    if (this.#append(size, chunk)) {
      this.#size = size;
      if (this.#isError() && size > errorBodyLimits.maxBytes) this.#truncate();
    } else this.#rejectBody();
  }

  /** Stores a chunk. Chunks are copied into one buffer, because each Buffer has an overhead. */
  #append(size: number, chunk: Buffer): boolean {
    if (this.#size === 0) {
      if (!this.#reserve(size)) return false;
      this.#body = chunk;
      return true;
    }
    if (!this.#isOwnBuffer || size > this.#body.byteLength) {
      const capacity = Math.max(2 * size, 4096);
      if (!this.#reserve(capacity)) return false;
      const larger = Buffer.allocUnsafeSlow(capacity);
      this.#body.copy(larger, 0, 0, this.#size);
      this.#body = larger;
      this.#isOwnBuffer = true;
    }
    chunk.copy(this.#body, this.#size);
    return true;
  }

  /** Reserves this total number of bytes. */
  #reserve(bytes: number): boolean {
    if (this.#budget.reserve(this.#bucket, bytes - this.#reserved)) return false;
    this.#reserved = bytes;
    return true;
  }

  #rejectBody(): void {
    const reason = new BodyBudgetExceeded('The budget for bodies is exhausted');
    this.#settle();
    if (this.#isError()) this.#succeed();
    else this.#reject(reason);
    this.#controller?.abort(reason);
  }

  onResponseEnd(): void {
    const isLarge = this.#size > turnBytes && !this.#isError();
    this.#settle(isLarge ? this.#size : 0);
    this.#succeed();
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    this.#settle();
    if (this.#isError()) this.#succeed();
    else if (this.#status === 0) this.#reject(cause);
    else this.#reject(new BodyInterrupted('The connection closed during the body', { cause }));
  }

  #isError(): boolean {
    return this.#status > 299;
  }

  /** Truncates the body of an error response. */
  #truncate(): void {
    this.#settle();
    this.#succeed();
    this.#controller?.abort(new Error('The body of an error response was truncated'));
  }

  #succeed(): void {
    const body = this.#isOwnBuffer ? this.#body.subarray(0, this.#size) : this.#body;
    const bytes = this.#reserved;
    const releaseBody = bytes === 0 ? undefined : () => this.#budget.release(this.#bucket, bytes);
    const response = { status: this.#status, headers: this.#headers, body, releaseBody };
    endOfTurn().then(() => this.#resolve(response));
  }

  /** Ends the call. `kept` bytes of the budget stay reserved. */
  #settle(kept = 0): void {
    this.#isSettled = true;
    clearTimeout(this.#errorTimeout);
    this.#cancellation.onCancel = undefined;
    this.#budget.release(this.#bucket, this.#reserved - kept);
    this.#reserved = kept;
  }
}

const nothing = Buffer.alloc(0);
