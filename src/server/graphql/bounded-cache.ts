interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Whether it has been read since it was last considered for eviction. */
  isUsed: boolean;
}

/**
 * A cache bounded in bytes, with second-chance eviction: a hit only sets a flag. Entries larger
 * than a quarter of the bound are not kept.
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

  /** Adds a value of this size, unless the key exists. */
  add(key: string, value: Value, bytes: number): void {
    if (bytes > this.#maxBytes / 4 || this.#entries.has(key)) return;
    this.#entries.set(key, { value, bytes, isUsed: false });
    this.#bytes += bytes;
    // A Map iterates in insertion order. Each entry is visited at most twice: the first visit uses
    // up its second chance.
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
