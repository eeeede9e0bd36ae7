import { bucketCount } from '../../limits/key.ts';
import type { Cancellation } from './cancellation.ts';

/** Maximum fraction of the connections, and of the waiting calls, for one key. */
const maxKeyFraction = 0.75;

/** The limits for all keys together. */
type Capacity = Readonly<Record<'maxConnections' | 'maxWaiting', number>>;

/**
 * Limits the calls to an origin in total and per key, so that hanging calls of one key leave a
 * quarter of the connections to other keys. Further calls of the key wait in a queue. Keys are
 * distinguished by a hash with 4,096 values; keys with the same hash share a limit.
 */
export class KeyLimiter {
  readonly #capacity: Capacity;
  // A Map would grow and shrink with each call.
  readonly #inFlight = new Uint32Array(bucketCount);
  /** The waiting calls of each key in order of arrival. Empty unless a key reaches its limit. */
  readonly #queues = new Map<number, Set<() => void>>();
  /** The number of calls in flight or waiting. */
  calls = 0;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  /**
   * Starts a call of the key with this bucket. Returns undefined, or why it is refused; or a promise
   * if it has to wait, of `cancelled` if it is cancelled meanwhile. Call `release` when it ends.
   */
  acquire(
    bucket: number,
    cancellation: Cancellation,
  ): 'queueFull' | 'keyQueueFull' | undefined | Promise<'cancelled' | undefined> {
    const { maxConnections, maxWaiting } = this.#capacity;
    if (this.calls >= maxConnections + maxWaiting) return 'queueFull';
    const inFlight = this.#inFlight[bucket] ?? 0;
    if (inFlight < Math.ceil(maxConnections * maxKeyFraction)) {
      this.#inFlight[bucket] = inFlight + 1;
      this.calls++;
      return undefined;
    }
    const queue = this.#queues.get(bucket) ?? new Set();
    if (queue.size >= Math.ceil(maxWaiting * maxKeyFraction)) return 'keyQueueFull';
    this.#queues.set(bucket, queue);
    this.calls++;
    return new Promise((resolve) => {
      const start = () => {
        cancellation.listener = undefined;
        resolve(undefined);
      };
      queue.add(start);
      cancellation.listener = {
        onCancel: () => {
          queue.delete(start);
          this.calls--;
          resolve('cancelled');
        },
      };
    });
  }

  /** Ends a call of the key, and starts the next one if any is waiting. */
  release(bucket: number): void {
    this.calls--;
    const queue = this.#queues.size === 0 ? undefined : this.#queues.get(bucket);
    const [next] = queue ?? [];
    if (next !== undefined) {
      queue?.delete(next);
      next();
    } else {
      if (queue !== undefined) this.#queues.delete(bucket);
      this.#inFlight[bucket] = (this.#inFlight[bucket] ?? 1) - 1;
    }
  }
}
