const maxKeys = 10_000;

/** The keys that the backend has accepted, at most 10,000: the first one is dropped first. */
export class AcceptedKeys {
  readonly #keys = new Set<number>();

  has(key: number): boolean {
    return this.#keys.has(key);
  }

  add(key: number): void {
    this.#keys.add(key);
    if (this.#keys.size <= maxKeys) return;
    const [first = 0] = this.#keys;
    this.#keys.delete(first);
  }
}
