import { BackendUnavailableError } from '../../contract/error.ts';
import { places } from '../../places.ts';
import type { Cancellation } from './exchange.ts';

/** The part of the connections, and of the calls that wait, that one key may have. */
const share = 0.75;

/** How many calls may be in flight and wait. */
interface Capacity {
  readonly maxConnections: number;
  readonly maxWaiting: number;
}

/**
 * Leaves a quarter of the connections to other keys, however many calls of one key hang. Its further
 * calls wait in a line of their own. Keys are told apart by a hash; two in 4,096 share one share.
 */
export class KeyShares {
  readonly #maxInFlight: number;
  readonly #maxWaiting: number;
  // Not a Map: it would grow and shrink with each call.
  readonly #inFlight = new Uint32Array(places);
  /** The lines, in order of arrival; there are none while keys keep within their share. */
  readonly #lines = new Map<number, Set<() => void>>();

  constructor({ maxConnections, maxWaiting }: Capacity) {
    this.#maxInFlight = Math.ceil(maxConnections * share);
    this.#maxWaiting = Math.ceil(maxWaiting * share);
  }

  /**
   * Lets a call of the key with this place begin; with a promise, once it is its turn.
   * @throws BackendUnavailableError when too many calls of the key wait already; the promise rejects
   *   with the reason of the cancellation.
   */
  enter(place: number, cancellation: Cancellation): Promise<void> | undefined {
    const inFlight = this.#inFlight[place] ?? 0;
    if (inFlight < this.#maxInFlight) {
      this.#inFlight[place] = inFlight + 1;
      return undefined;
    }
    const line = this.#lines.get(place) ?? new Set();
    if (line.size >= this.#maxWaiting) throw tooManyWait(' of this API key');
    this.#lines.set(place, line);
    return new Promise((resolve, reject) => {
      if (cancellation.reason) return reject(cancellation.reason);
      line.add(resolve);
      cancellation.onCancel = (reason) => {
        line.delete(resolve);
        reject(reason);
      };
    });
  }

  /** A call of the key ended: the next one begins, if one waits. */
  leave(place: number): void {
    const line = this.#lines.size === 0 ? undefined : this.#lines.get(place);
    const [next] = line ?? [];
    if (next !== undefined) {
      line?.delete(next);
      next();
    } else {
      if (line !== undefined) this.#lines.delete(place);
      this.#inFlight[place] = (this.#inFlight[place] ?? 1) - 1;
    }
  }
}

/** The error of a call that finds too many waiting before it. */
export function tooManyWait(ofWhom: string): BackendUnavailableError {
  return new BackendUnavailableError(`Too many calls${ofWhom} wait for the pet store already.`, {
    retryAfterMs: 1000,
  });
}
