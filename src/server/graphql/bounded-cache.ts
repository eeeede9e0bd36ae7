interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Used since it was last considered for eviction. */
  isUsed: boolean;
}

/**
 * A cache bounded in bytes. What was used since the last eviction gets a second chance, so that a
 * hit changes one flag and moves nothing. An entry larger than a quarter of the bound is not kept.
 */
export class BoundedCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  /** Keeps a value of this size under a key that is not taken yet. */
  add(key: string, value: Value, bytes: number): void {
    if (bytes > this.#maxBytes / 4 || this.#entries.has(key)) return;
    this.#entries.set(key, { value, bytes, isUsed: false });
    this.#bytes += bytes;
    // A Map keeps the order of insertion. Each entry is met at most twice: the first time spends its
    // second chance.
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#entries.set(oldest, entry);
      } else {
        this.#bytes -= entry.bytes;
      }
    }
  }
}
