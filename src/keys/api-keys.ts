import { Limit, type LimitOptions } from '../limits/limit.ts';
import { Places } from '../limits/places.ts';
import { ApiKey } from './api-key.ts';

/**
 * The most keys that are kept without being active. Keys that were never accepted have a part of their
 * own, so that they cannot push out others.
 */
const maxKeys = { accepted: 9000, unaccepted: 1000 };

/** All API keys in use, each found by its whole token. No two of them share anything. */
export class ApiKeys {
  /** Requests without a credential count as one key. */
  readonly none = new ApiKey('');
  readonly #accepted = new Generations(maxKeys.accepted);
  readonly #unaccepted = new Generations(maxKeys.unaccepted);
  readonly #limits: Limit[] = [];
  readonly #places: Places[] = [];

  /** Returns the key of an `Authorization` header. The scheme and its spaces do not matter. */
  find(authorization: string | undefined): ApiKey {
    if (!authorization) return this.none;
    const credential = authorization.slice(authorization.lastIndexOf(' ') + 1);
    if (credential === '') return this.none;
    const known = this.#accepted.get(credential) ?? this.#unaccepted.get(credential);
    if (known !== undefined) return known;
    const key = new ApiKey(credential);
    this.#unaccepted.add(key);
    return key;
  }

  /** Counts a key as accepted by the backend, which gives its calls more places. */
  accept(key: ApiKey): void {
    if (key.isAccepted) return;
    for (const limit of this.#limits) limit.move(key, true);
    key.isAccepted = true;
    if (this.#accepted.get(key.credential) !== key) this.#accepted.add(key);
    for (const places of this.#places) places.sendWaiting();
  }

  /** Counts a key as one that the backend no longer accepts. */
  refuse(key: ApiKey): void {
    if (key.isAccepted) for (const limit of this.#limits) limit.move(key, false);
    key.isAccepted = false;
  }

  /** Opens a limit that all keys share. @param name its label in the metrics */
  openLimit(name: string, options: LimitOptions): Limit {
    const limit = new Limit(name, this.#limits.length, options);
    this.#limits.push(limit);
    return limit;
  }

  /** Opens places for calls. One key has three quarters of them, and unaccepted keys have half. */
  openPlaces(service: string, maxInFlight: number, maxWaiting = Number.POSITIVE_INFINITY): Places {
    const open = (name: string, total: number) => {
      const [perKey, unaccepted] = [Math.ceil(total * 0.75), Math.ceil(total / 2)];
      return this.openLimit(`${service}_${name}`, { total, perKey, unaccepted });
    };
    const places = new Places(open('calls', maxInFlight), open('waiting_calls', maxWaiting));
    this.#places.push(places);
    return places;
  }

  /** Returns the number of keys that a test holds for. */
  count(test: (key: ApiKey) => boolean): number {
    const keys = new Set([this.none, ...this.#accepted.values(), ...this.#unaccepted.values()]);
    return [...keys].filter(test).length;
  }
}

/**
 * Keeps up to `max` keys and those that are active. A `Map` that dropped its first entry for each new
 * one would be slow, so half of the keys are dropped at once.
 */
class Generations {
  readonly #max: number;
  /** How many were added since the recent ones became the older ones. */
  #added = 0;
  #recent = new Map<string, ApiKey>();
  #older: ReadonlyMap<string, ApiKey> = this.#recent;

  constructor(max: number) {
    this.#max = max;
  }

  get(credential: string): ApiKey | undefined {
    const recent = this.#recent.get(credential);
    if (recent !== undefined) return recent;
    const older = this.#older.get(credential);
    if (older !== undefined) this.add(older);
    return older;
  }

  add(key: ApiKey): void {
    if (this.#added >= this.#max / 2) {
      const dropped = this.#older;
      this.#older = this.#recent;
      this.#recent = new Map();
      for (const one of dropped.values()) {
        if (one.isActive) this.#recent.set(one.credential, one);
      }
      this.#added = 0;
    }
    this.#added++;
    this.#recent.set(key.credential, key);
  }

  *values(): Generator<ApiKey> {
    yield* this.#older.values();
    yield* this.#recent.values();
  }
}
