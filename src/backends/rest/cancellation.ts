import type { Failed } from './outcome.ts';

/**
 * Ends one call, at its deadline or when its client disconnects; it is a listener of the client's
 * abort signal. A write that was sent goes on, so that its outcome becomes known.
 */
export class Cancellation implements EventListenerObject {
  /** Undefined until the call is cancelled. */
  reason: 'deadline' | 'client' | undefined;
  /**
   * The only listener, which is called once. It is an object, because closures would double the time
   * of minor garbage collections (docs/performance.md).
   */
  listener: { onCancel(): void } | undefined;
  /** How often the call has been written to a connection. */
  timesSent = 0;
  readonly #isWrite: boolean;
  readonly #deadlineAt: number;

  /** @param deadlineAt as a `performance.now()` timestamp */
  constructor(isWrite: boolean, deadlineAt: number) {
    this.#isWrite = isWrite;
    this.#deadlineAt = deadlineAt;
  }

  /** Returns whether the call is cancelled. Cancels it if its deadline has passed: timers are late. */
  isOver(): boolean {
    if (performance.now() >= this.#deadlineAt) this.cancel('deadline');
    return this.reason !== undefined;
  }

  cancel(reason: 'deadline' | 'client'): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.listener?.onCancel();
  }

  handleEvent(): void {
    if (!this.#isWrite || this.timesSent === 0) this.cancel('client');
  }

  /** Returns the outcome of a call that was cancelled. */
  outcome(wasSent: boolean): Failed {
    if (this.reason === 'client') return { why: 'clientLeft' };
    return { why: wasSent ? 'timeout' : 'deadline' };
  }

  /** Waits, or until the call is cancelled. Call it before that. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.listener = {
        onCancel() {
          clearTimeout(timer);
          resolve();
        },
      };
    });
  }
}
