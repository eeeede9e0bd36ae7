import type { Dispatcher } from 'undici';
import { endOfTurn } from '../../end-of-turn.ts';
import { BodyInterrupted } from './faults.ts';

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
}

/**
 * The most that the body of an error may hold, in bytes, and how long it may take, in milliseconds:
 * the status has said what matters, and is not lost over the body.
 */
const errorBody = { maxBytes: 64 * 1024, timeoutMs: 1000 };

/**
 * Sends one request and collects its whole answer; redirects are answers. Straight to undici's
 * dispatcher, since its `request` makes a stream of every body.
 * @throws what undici throws, `BodyInterrupted` after the headers, or the reason of the cancellation.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  cancellation: Cancellation,
): Promise<RestResponse> {
  return new Promise((resolve, reject) => {
    if (cancellation.reason) reject(cancellation.reason);
    else dispatcher.dispatch(options, new Collector(cancellation, resolve, reject));
  });
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #cancellation: Cancellation;
  readonly #resolve: (response: RestResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Headers = {};
  #errorTimeout: NodeJS.Timeout | undefined;

  constructor(
    cancellation: Cancellation,
    resolve: (response: RestResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#cancellation = cancellation;
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
    this.#chunks.push(chunk);
    this.#size += chunk.byteLength;
    if (this.#isError() && this.#size > errorBody.maxBytes) this.#cutShort();
  }

  onResponseEnd(): void {
    this.#settle();
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
    const body =
      this.#chunks.length === 1 && this.#chunks[0]
        ? this.#chunks[0]
        : Buffer.concat(this.#chunks, this.#size);
    const response = { status: this.#status, headers: this.#headers, body };
    endOfTurn().then(() => this.#resolve(response));
  }

  #settle(): void {
    clearTimeout(this.#errorTimeout);
    this.#cancellation.onCancel = undefined;
  }
}
