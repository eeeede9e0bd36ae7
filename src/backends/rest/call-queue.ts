import { FairQueue } from '../../limits/fair-queue.ts';
import { type Release, Share } from '../../limits/share.ts';
import type { Cancellation } from './cancellation.ts';

/**
 * Limits the calls to a service that are in flight and that wait, in total and per key: hanging calls
 * of one key leave a quarter of the connections to other keys. undici has a connection for each call
 * in flight, so calls wait in this queue only.
 */
export class CallQueue {
  readonly inFlight: Share;
  readonly waiting: Share;
  /** Starts the next call; returns false if that is over. */
  readonly #queue = new FairQueue<() => boolean>();
  readonly #mayStart = (key: number) => this.inFlight.refuses(key) === undefined;

  constructor(
    service: string,
    { maxConnections, maxWaiting }: Readonly<Record<'maxConnections' | 'maxWaiting', number>>,
  ) {
    this.inFlight = new Share(`${service}_calls`, mostlyPerKey(maxConnections));
    this.waiting = new Share(`${service}_waiting_calls`, mostlyPerKey(maxWaiting));
  }

  /**
   * Returns what to pass to `leave` when the call ends, or why it is refused; or a promise if it has
   * to wait, of undefined if it is cancelled meanwhile or its deadline passes.
   */
  enter(
    key: number,
    cancellation: Cancellation,
  ): Release | 'queueFull' | 'keyQueueFull' | Promise<Release | undefined> {
    const place = this.inFlight.take(key);
    if (typeof place === 'function') return place;
    const stopWaiting = this.waiting.take(key);
    if (stopWaiting === 'key') return 'keyQueueFull';
    if (stopWaiting === 'all') return 'queueFull';
    return new Promise((resolve) => {
      const start = () => {
        stopWaiting();
        cancellation.listener = undefined;
        const isOver = cancellation.isOver();
        resolve(isOver ? undefined : (this.inFlight.take(key) as Release));
        return !isOver;
      };
      const onCancel = () => {
        this.#queue.remove(key, start);
        start();
      };
      cancellation.listener = { onCancel };
      this.#queue.add(key, start);
    });
  }

  /** Ends a call, and starts the next one whose key may have another in flight. */
  leave(place: Release): void {
    place();
    while (this.waiting.used > 0) {
      const start = this.#queue.next(this.#mayStart);
      if (start === undefined || start()) return;
    }
  }
}

/** Returns a limit of which one key may use three quarters. */
export function mostlyPerKey(total: number) {
  return { total, perKey: Math.ceil(total * 0.75) };
}
