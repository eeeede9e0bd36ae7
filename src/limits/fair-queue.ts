import type { ApiKey } from '../keys/api-key.ts';

/** Serves keys one after the other, and the items of each key in order of arrival. */
export class FairQueue<Item> {
  /** The items of each key, in the order in which keys are served. */
  readonly #queues = new Map<ApiKey, Set<Item>>();

  add(key: ApiKey, item: Item): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, new Set([item]));
    else queue.add(item);
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Removes an item that no longer waits. Returns whether it still did. */
  remove(key: ApiKey, item: Item): boolean {
    const queue = this.#queues.get(key);
    if (!queue?.delete(item)) return false;
    return queue.size > 0 || this.#queues.delete(key);
  }

  /** Removes and returns the next item whose key may be served; undefined if there is none. */
  next(mayServe: (key: ApiKey) => boolean): Item | undefined {
    for (const [key, queue] of this.#queues) {
      if (!mayServe(key)) continue;
      const [item] = queue as Iterable<Item>;
      queue.delete(item as Item);
      this.#queues.delete(key);
      if (queue.size > 0) this.#queues.set(key, queue);
      return item;
    }
    return undefined;
  }
}
