import { bucketCount, bucketOf } from './key.ts';

/** Gives back what was taken. Call it exactly once: a second call would give it back again. */
export type Release = () => void;

/** Limits what all keys use together, and the part of it that one key may use. */
export class Share {
  readonly name: string;
  /** What all keys use now. */
  used = 0;
  /** How often each of the two limits has refused. */
  readonly refused = { key: 0, all: 0 };
  readonly #total: number;
  readonly #perKey: number;
  readonly #usedByKey = new Float64Array(bucketCount);

  /** @param name its label in the metrics */
  constructor(name: string, { total, perKey }: Readonly<Record<'total' | 'perKey', number>>) {
    this.name = name;
    this.#total = total;
    this.#perKey = perKey;
  }

  /** Takes an amount for a key. Returns which limit refuses it, with nothing taken. */
  take(key: number, amount = 1): Release | 'key' | 'all' {
    const refusedBy = this.refuses(key, amount);
    if (refusedBy !== undefined) {
      this.refused[refusedBy]++;
      return refusedBy;
    }
    const bucket = bucketOf(key);
    const usedByKey = this.#usedByKey;
    usedByKey[bucket] = (usedByKey[bucket] ?? 0) + amount;
    this.used += amount;
    return () => {
      usedByKey[bucket] = (usedByKey[bucket] ?? 0) - amount;
      this.used -= amount;
    };
  }

  /** Returns which limit would refuse `take`; undefined if neither would. Counts no refusal. */
  refuses(key: number, amount = 1): 'key' | 'all' | undefined {
    const ofKey = this.#usedByKey[bucketOf(key)] ?? 0;
    if (ofKey + amount > this.#perKey) return 'key';
    return this.used + amount > this.#total ? 'all' : undefined;
  }
}
