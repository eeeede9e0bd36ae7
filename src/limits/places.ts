import type { ApiKey } from '../keys/api-key.ts';
import { FairQueue } from './fair-queue.ts';
import type { Limit, RefusedBy } from './limit.ts';

/** A call that needs a place among those in flight. */
export interface PlacedCall {
  readonly key: ApiKey;
  /** Uses its place now. Returns false if it does not need it. */
  send(): boolean;
}

/** The places of calls in flight, and the fair queue of those that wait for one. */
export class Places {
  readonly inFlight: Limit;
  readonly waiting: Limit;
  readonly #queue = new FairQueue<PlacedCall>();

  constructor(inFlight: Limit, waiting: Limit) {
    this.inFlight = inFlight;
    this.waiting = waiting;
  }

  /** Sends a call, now or when it has a place. Returns what refuses it. */
  enter(call: PlacedCall): RefusedBy | undefined {
    if (this.inFlight.refuses(call.key) === undefined) {
      this.inFlight.add(call.key, 1);
      if (!call.send()) this.leave(call.key);
      return undefined;
    }
    const refusedBy = this.waiting.take(call.key);
    if (refusedBy === undefined) this.#queue.add(call.key, call);
    return refusedBy;
  }

  /** Removes a call, if it waits for a place. */
  leaveQueue(call: PlacedCall): void {
    if (this.#queue.remove(call.key, call)) this.waiting.release(call.key);
  }

  /** Ends a call, and sends the next one. */
  leave(key: ApiKey): void {
    this.inFlight.release(key);
    // The call that ends lets go of its connection first.
    if (this.waiting.used > 0) queueMicrotask(() => this.sendWaiting());
  }

  /** Sends all calls that wait and that no limit holds up. */
  sendWaiting(): void {
    while (this.waiting.used > 0) {
      const call = this.#queue.next((key) => this.inFlight.refuses(key) === undefined);
      if (call === undefined) return;
      this.waiting.release(call.key);
      this.inFlight.add(call.key, 1);
      if (!call.send()) this.inFlight.release(call.key);
    }
  }
}
