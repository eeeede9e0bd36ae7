import type { Dispatcher } from 'undici';
import { endOfTurn } from '../../limits/end-of-turn.ts';
import type { Release, Share } from '../../limits/share.ts';
import { nextSlice, sliceBytes } from '../../limits/slices.ts';
import type { Cancellation } from './cancellation.ts';
import type { TrackedClient } from './connections.ts';
import { type Outcome, outcomeOfFailure, type Responded } from './outcome.ts';
import { codingOf, type Decode, decoders } from './response.ts';

/**
 * Limits for the body of an error response. A longer or slower body is truncated, because the
 * status is sufficient.
 */
const errorBodyLimits = { maxBytes: 16 * 1024, timeoutMs: 1000 };

type Controller = Dispatcher.DispatchController;

/** How a call is cancelled, and what limits its body. */
export interface CallLimits {
  readonly cancellation: Cancellation;
  /** The limit of the bytes of all bodies, and the key that this one counts for. */
  readonly bodyBytes: Share;
  readonly key: number;
  /** Maximum size of a decoded body. That of the received bytes is undici's limit. */
  readonly maxBodyBytes: number;
  /**
   * Called once when undici no longer has the call. One that is cancelled while its connection opens
   * stays with undici until that has succeeded or failed.
   */
  readonly leave: () => void;
}

/**
 * Sends one call and collects the complete response. Does not follow redirects. Uses the dispatcher
 * directly, because undici's `request` creates a stream for every body. Never rejects.
 */
export function dispatchCall(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  limits: CallLimits,
): Promise<Outcome> {
  const { cancellation } = limits;
  if (cancellation.reason !== undefined) {
    limits.leave();
    return Promise.resolve(cancellation.outcome(false));
  }
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  dispatcher.dispatch(options, new ResponseCollector(limits, resolve));
  return promise;
}

class ResponseCollector implements Dispatcher.DispatchHandler {
  /** Set when a client takes the call. */
  client: TrackedClient | undefined;
  readonly #limits: CallLimits;
  readonly #resolve: (outcome: Outcome) => void;
  /** The only chunk so far, or a buffer that all chunks are copied into. */
  #body: Buffer = nothing;
  /** The number of bytes of `#body` that were received. */
  #size = 0;
  #release: Release | undefined;
  #isSettled = false;
  #controller: Controller | undefined;
  #wasSent = false;
  /** The status; 0 until the headers arrive. */
  #status = 0;
  /** Whether the body is that of an error, which may be truncated. */
  #isError = false;
  #headers: Responded['headers'] = {};
  #errorTimeout: NodeJS.Timeout | undefined;

  constructor(limits: CallLimits, resolve: (outcome: Outcome) => void) {
    this.#limits = limits;
    this.#resolve = resolve;
    // A call that waits until it is connected ends immediately, and is dropped then.
    limits.cancellation.listener = this;
  }

  onCancel(): void {
    this.#end(this.#limits.cancellation.outcome(this.#wasSent));
  }

  onRequestStart(controller: Controller): void {
    const { cancellation } = this.#limits;
    // undici reports the abort of a call that was cancelled before.
    if (!this.#isSettled) this.#controller = controller;
    if (cancellation.isOver()) return void controller.abort(aborted);
    this.#wasSent = true;
    cancellation.timesSent++;
  }

  onResponseStart(_: Controller, status: number, headers: Responded['headers']): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (status > 299) {
      this.#isError = true;
      this.#errorTimeout = setTimeout(() => this.#end(), errorBodyLimits.timeoutMs);
    }
  }

  /** Copies chunks into one buffer, because each Buffer has an overhead. */
  onResponseData(_: Controller, chunk: Buffer): void {
    if (this.#isSettled) return;
    const { bodyBytes, key } = this.#limits;
    const start = this.#size;
    this.#release?.();
    const taken = bodyBytes.take(key, start + chunk.byteLength);
    this.#release = typeof taken === 'function' ? taken : undefined;
    if (typeof taken === 'string') {
      this.#end({ why: 'noMemory', retryAfterMs: 1000 });
      return;
    }
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
    if (this.client) this.client.wasUsed = true;
    const decode = decoders.get(codingOf(this.#headers));
    if (decode === undefined || this.#size === 0) this.#settle();
    else nextSlice(this.#limits.key).then(() => this.#decode(decode, controller));
  }

  /** Replaces the body by the decoded one, to which the same limits apply. */
  #decode(decode: Decode, controller: Controller): void {
    if (this.#isSettled) return;
    const maxOutputLength = this.#isError ? errorBodyLimits.maxBytes : this.#limits.maxBodyBytes;
    try {
      const decoded = decode(this.#received, { maxOutputLength });
      this.#size = 0;
      this.onResponseData(controller, decoded);
      this.#settle();
    } catch (cause) {
      const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      const problem = `body: expected ${isTooLarge ? 'a smaller body' : 'the encoding of its header'}.`;
      this.#end({ why: 'invalid', status: this.#status, problem, cause });
    }
  }

  onResponseError(_: Controller, cause: Error): void {
    if (this.#controller === undefined) this.#limits.leave();
    const isFirst = this.#limits.cancellation.timesSent === 1;
    const mayBeStale = isFirst && this.client?.wasUsed === true;
    this.#end(outcomeOfFailure(cause, this.#wasSent, this.#status, mayBeStale));
  }

  /** Ends the call early: a response with an error status, whose body is truncated, or any call. */
  #end(outcome?: Outcome): void {
    if (this.#isSettled) return;
    this.#settle(this.#isError ? undefined : outcome);
    this.#controller?.abort(aborted);
  }

  get #received(): Buffer {
    const isWhole = this.#size === this.#body.byteLength;
    return isWhole ? this.#body : this.#body.subarray(0, this.#size);
  }

  /** Resolves to the outcome, by default the response. The bytes of a large body stay counted. */
  #settle(outcome?: Outcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#controller !== undefined) this.#limits.leave();
    clearTimeout(this.#errorTimeout);
    this.#limits.cancellation.listener = undefined;
    const staysCounted = !outcome && !this.#isError && this.#size > sliceBytes;
    if (!staysCounted) this.#release?.();
    if (outcome !== undefined) return void this.#resolve(outcome);
    const releaseBody = staysCounted ? this.#release : undefined;
    const [status, headers, body] = [this.#status, this.#headers, this.#received];
    endOfTurn().then(() => this.#resolve({ status, headers, body, releaseBody }));
  }
}

const nothing = Buffer.alloc(0);
/** The reason given to undici, which nobody reads. */
const aborted = new Error('The call has ended');
