/** Label values that clients choose, bounded in number; all others share one label. */
export class LabelValues {
  readonly #values = new Set<string>();
  readonly #max: number;
  readonly #absent: string;

  /** @param absent stands for a value that was not sent. */
  constructor(max: number, absent: string) {
    this.#max = max;
    this.#absent = absent;
  }

  /** Gives a value a label of its own, while there are any. */
  admit(value: string | undefined): void {
    if (value !== undefined && this.#values.size < this.#max) this.#values.add(value);
  }

  /** The value itself if it was admitted. */
  label(value: string | undefined): string {
    if (value === undefined) return this.#absent;
    return this.#values.has(value) ? value : 'other';
  }
}
