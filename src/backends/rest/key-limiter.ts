import { BackendUnavailableError } from '../../contract/error.ts';
import { bucketCount } from '../../key-buckets.ts';
import type { Cancellation } from './dispatch-call.ts';

/** Maximum fraction of the connections, and of the waiting calls, for one key. */
const maxKeyFraction = 0.75;

/** The limits for all keys together. */
interface Capacity {
  readonly maxConnections: number;
  readonly maxWaiting: number;
}

/**
 * Limits the calls in flight of each key, so that hanging calls of one key leave a quarter of the
 * connections to other keys. Further calls of the key wait in a queue. Keys are distinguished by a
 * hash with 4,096 values; keys with the same hash share a limit.
 */
export class KeyLimiter {
  readonly #maxInFlight: number;
  readonly #maxWaiting: number;
  // A Map would grow and shrink with each call.
  readonly #inFlight = new Uint32Array(bucketCount);
  /** The waiting calls of each key in order of arrival. Empty unless a key reaches its limit. */
  readonly #queues = new Map<number, Set<() => void>>();

  constructor({ maxConnections, maxWaiting }: Capacity) {
    this.#maxInFlight = Math.ceil(maxConnections * maxKeyFraction);
    this.#maxWaiting = Math.ceil(maxWaiting * maxKeyFraction);
  }

  /**
   * Starts a call of the key with this bucket. Returns undefined, or a promise if the call has to
   * wait.
   * @throws BackendUnavailableError if too many calls of the key are waiting; the promise rejects
   *   with the reason of the cancellation.
   */
  acquire(bucket: number, cancellation: Cancellation): Promise<void> | undefined {
    const inFlight = this.#inFlight[bucket] ?? 0;
    if (inFlight < this.#maxInFlight) {
      this.#inFlight[bucket] = inFlight + 1;
      return undefined;
    }
    const queue = this.#queues.get(bucket) ?? new Set();
    if (queue.size >= this.#maxWaiting) throw tooManyCalls(' of this API key');
    this.#queues.set(bucket, queue);
    return new Promise((resolve, reject) => {
      if (cancellation.reason) return reject(cancellation.reason);
      queue.add(resolve);
      cancellation.onCancel = (reason) => {
        queue.delete(resolve);
        reject(reason);
      };
    });
  }

  /** Ends a call of the key, and starts the next one if any is waiting. */
  release(bucket: number): void {
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

/** Creates the error for a call that finds the queue full. */
export function tooManyCalls(ofWhom: string): BackendUnavailableError {
  return new BackendUnavailableError(`Too many calls${ofWhom} are waiting for the pet store.`, {
    retryAfterMs: 1000,
  });
}
