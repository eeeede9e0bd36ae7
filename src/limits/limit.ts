import type { ApiKey } from '../keys/api-key.ts';

/** How much all keys may use together, and of that one key, and all keys that were never accepted. */
export interface LimitOptions {
  readonly total: number;
  readonly perKey: number;
  readonly unaccepted?: number;
}

/** Which part of a limit refuses: that of the key, of all keys, or of those never accepted. */
export type RefusedBy = 'key' | 'all' | 'unknown';

/** Limits what all keys use together, and the part of it that one key may use. */
export class Limit {
  readonly name: string;
  /** What all keys use now, and of that the keys that were never accepted. */
  used = 0;
  usedByUnaccepted = 0;
  /** How often each part has refused. */
  readonly refused: Record<RefusedBy, number> = { key: 0, all: 0, unknown: 0 };
  readonly #index: number;
  readonly #total: number;
  readonly #perKey: number;
  readonly #unaccepted: number;

  /** @param index that of the limit in `ApiKey.used` */
  constructor(name: string, index: number, { total, perKey, unaccepted = total }: LimitOptions) {
    this.name = name;
    this.#index = index;
    this.#total = total;
    this.#perKey = perKey;
    this.#unaccepted = unaccepted;
  }

  /** Takes an amount for a key. Returns what refuses it, with nothing taken. */
  take(key: ApiKey, amount = 1): RefusedBy | undefined {
    const refusedBy = this.refuses(key, amount);
    if (refusedBy === undefined) this.add(key, amount);
    else this.refused[refusedBy]++;
    return refusedBy;
  }

  release(key: ApiKey, amount = 1): void {
    this.add(key, -amount);
  }

  /** Adds to what a key uses, without asking whether it may. */
  add(key: ApiKey, amount: number): void {
    const { used } = key;
    used[this.#index] = (used[this.#index] ?? 0) + amount;
    this.used += amount;
    if (!key.isAccepted) this.usedByUnaccepted += amount;
  }

  /** Returns what would refuse `take`; undefined if nothing would. Counts no refusal. */
  refuses(key: ApiKey, amount = 1): RefusedBy | undefined {
    if ((key.used[this.#index] ?? 0) + amount > this.#perKey) return 'key';
    if (this.used + amount > this.#total) return 'all';
    const isBeyond = !key.isAccepted && this.usedByUnaccepted + amount > this.#unaccepted;
    return isBeyond ? 'unknown' : undefined;
  }

  /** Counts what a key uses as that of an accepted one, or no longer. */
  move(key: ApiKey, isAccepted: boolean): void {
    const used = key.used[this.#index] ?? 0;
    this.usedByUnaccepted += isAccepted ? -used : used;
  }
}
