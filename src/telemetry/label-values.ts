/** Label values that clients choose, limited in number. All others share the label `other`. */
export class LabelValues {
  readonly #values = new Set<string>();
  readonly #max: number;
  readonly #absent: string;

  /** @param absent the label for a missing value */
  constructor(max: number, absent: string) {
    this.#max = max;
    this.#absent = absent;
  }

  /** Gives a value its own label, up to the maximum. */
  admit(value: string | undefined): void {
    if (value !== undefined && this.#values.size < this.#max) this.#values.add(value);
  }

  /** Returns the label for a value. */
  label(value: string | undefined): string {
    if (value === undefined) return this.#absent;
    return this.#values.has(value) ? value : 'other';
  }
}
