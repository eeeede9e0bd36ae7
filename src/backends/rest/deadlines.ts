/** A call with a deadline, and its neighbours among those in flight. */
export interface DueCall {
  /** As a `performance.now()` timestamp. */
  readonly deadlineAt: number;
  next: DueCall | undefined;
  previous: DueCall | undefined;
  /** Ends the call, because its deadline has passed. */
  expire(): void;
}

/**
 * The calls in flight in the order of their deadlines, which is that of their start because all have
 * the same time limit. One timer serves all of them: creating one per call would cost 3 % of a request's
 * CPU time, and a `Set` of the calls more (docs/performance.md).
 */
export class Deadlines {
  #first: DueCall | undefined;
  #last: DueCall | undefined;
  #timer: NodeJS.Timeout | undefined;

  add(call: DueCall): void {
    call.previous = this.#last;
    if (this.#last) this.#last.next = call;
    else this.#first = call;
    this.#last = call;
    if (this.#timer === undefined) this.#expireAt(call.deadlineAt);
  }

  /** Removes a call that has ended; one that is not in the list is ignored. */
  remove(call: DueCall): void {
    const { next, previous } = call;
    if (previous) previous.next = next;
    else if (this.#first === call) this.#first = next;
    if (next) next.previous = previous;
    else if (this.#last === call) this.#last = previous;
    call.next = undefined;
    call.previous = undefined;
  }

  #expireAt(deadlineAt: number): void {
    const delayMs = Math.max(0, Math.ceil(deadlineAt - performance.now()));
    this.#timer = setTimeout(() => this.#expire(), delayMs).unref();
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let call = this.#first; call && call.deadlineAt <= now; call = this.#first) {
      this.remove(call);
      call.expire();
    }
    if (this.#first && this.#timer === undefined) this.#expireAt(this.#first.deadlineAt);
  }
}
