import type { Dispatcher } from 'undici';
import { endOfTurn } from '../../end-of-turn.ts';
import { turnBytes } from '../../turns.ts';
import type { BodyBudget } from './body-budget.ts';
import { BodyBudgetExceeded, BodyInterrupted } from './faults.ts';

/** What can end a call before its answer is there: its deadline, or a caller who leaves. */
export interface Cancellation {
  /** The reason, once there is one. */
  readonly reason: Error | undefined;
  /** Called once with the reason; one listener at a time. */
  onCancel: ((reason: Error) => void) | undefined;
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** The status line, the headers, and the body's bytes of an answer. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** A large body counts for the budget, as long as what was read from it is held, until this is called. */
  readonly giveBack: (() => void) | undefined;
}

/**
 * The most that the body of an error may hold, in bytes, and how long it may take, in milliseconds:
 * the status has said what matters, and is not lost over the body.
 */
const errorBody = { maxBytes: 16 * 1024, timeoutMs: 1000 };

/**
 * Sends one request and collects its whole answer; redirects are answers. Straight to undici's
 * dispatcher, since its `request` makes a stream of every body. The body counts for the key with this
 * place.
 * @throws what undici throws, `BodyInterrupted` after the headers, `BodyBudgetExceeded`, or the
 *   reason of the cancellation.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  cancellation: Cancellation,
  budget: BodyBudget,
  place: number,
): Promise<RestResponse> {
  return new Promise((resolve, reject) => {
    if (cancellation.reason) reject(cancellation.reason);
    else dispatcher.dispatch(options, new Collector(cancellation, budget, place, resolve, reject));
  });
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #cancellation: Cancellation;
  readonly #budget: BodyBudget;
  readonly #place: number;
  readonly #resolve: (response: RestResponse) => void;
  readonly #reject: (error: unknown) => void;
  /** The only chunk so far, or a buffer of our own that chunks are copied into. */
  #body: Buffer = nothing;
  #isOwnBuffer = false;
  /** How much of `#body` has arrived. */
  #size = 0;
  /** How much of the budget is taken. */
  #taken = 0;
  #isSettled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Headers = {};
  #errorTimeout: NodeJS.Timeout | undefined;

  constructor(
    cancellation: Cancellation,
    budget: BodyBudget,
    place: number,
    resolve: (response: RestResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#cancellation = cancellation;
    this.#budget = budget;
    this.#place = place;
    this.#resolve = resolve;
    this.#reject = reject;
    cancellation.onCancel = this.#onCancel;
  }

  /** A request that still waits for a connection is given up at once, and dropped at its turn. */
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
      this.#errorTimeout = setTimeout(() => this.#cutShort(), errorBody.timeoutMs);
    }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    const size = this.#size + chunk.byteLength;
    if (this.#hold(size, chunk)) {
      this.#size = size;
      if (this.#isError() && size > errorBody.maxBytes) this.#cutShort();
    } else this.#refuse();
  }

  /** Keeps a chunk; a body of many has one buffer, so that no chunk costs more than its bytes. */
  #hold(size: number, chunk: Buffer): boolean {
    if (this.#size === 0) {
      if (!this.#take(size)) return false;
      this.#body = chunk;
      return true;
    }
    if (!this.#isOwnBuffer || size > this.#body.byteLength) {
      const capacity = Math.max(2 * size, 4096);
      if (!this.#take(capacity)) return false;
      const larger = Buffer.allocUnsafeSlow(capacity);
      this.#body.copy(larger, 0, 0, this.#size);
      this.#body = larger;
      this.#isOwnBuffer = true;
    }
    chunk.copy(this.#body, this.#size);
    return true;
  }

  /** Takes so much of the budget in all. */
  #take(bytes: number): boolean {
    if (!this.#budget.take(this.#place, bytes - this.#taken)) return false;
    this.#taken = bytes;
    return true;
  }

  #refuse(): void {
    const reason = new BodyBudgetExceeded('Too much of other bodies is held already');
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
    else this.#reject(new BodyInterrupted('The body broke off', { cause }));
  }

  #isError(): boolean {
    return this.#status > 299;
  }

  /** Takes the body of an error as it is by now. */
  #cutShort(): void {
    this.#settle();
    this.#succeed();
    this.#controller?.abort(new Error('The body of an error took too much'));
  }

  #succeed(): void {
    const body = this.#isOwnBuffer ? this.#body.subarray(0, this.#size) : this.#body;
    const bytes = this.#taken;
    const giveBack = bytes === 0 ? undefined : () => this.#budget.giveBack(this.#place, bytes);
    const response = { status: this.#status, headers: this.#headers, body, giveBack };
    endOfTurn().then(() => this.#resolve(response));
  }

  /** The call is over; of the budget, so many bytes stay taken. */
  #settle(kept = 0): void {
    this.#isSettled = true;
    clearTimeout(this.#errorTimeout);
    this.#cancellation.onCancel = undefined;
    this.#budget.giveBack(this.#place, this.#taken - kept);
    this.#taken = kept;
  }
}

const nothing = Buffer.alloc(0);
