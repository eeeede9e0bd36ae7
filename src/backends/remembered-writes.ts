import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { IdempotencyKeyReusedError } from '../contract/error.ts';
import type { WriteKey } from '../contract/idempotency.ts';
import type { Caller, PetStore, ServiceCall } from '../contract/pet-store.ts';
import { untilDeadline } from './builtin/query-deadline.ts';
import { asUnknown, decodeResult, encodeResult, outcomeOf } from './write-result.ts';

/** What is stored of a write: its encoded result, or that another process makes its call. */
export interface StoredWrite {
  readonly fingerprint: string;
  readonly result?: string | undefined;
}

/** Keeps writes for 24 hours, by names that are hashes. */
export interface WriteStore extends AsyncDisposable {
  /**
   * Returns what is stored of a write. If that is nothing, stores that its call begins, and returns undefined.
   * Throws or rejects with an error whose outcome is `NOT_DONE` if it can't.
   */
  begin(
    caller: Caller,
    name: string,
    fingerprint: string,
  ): StoredWrite | undefined | Promise<StoredWrite | undefined>;
  /** Replaces what `begin` has stored, or removes it. */
  end(name: string, write: StoredWrite | undefined): void;
}

/** A write that this process makes. */
interface Flight extends Pick<StoredWrite, 'fingerprint'> {
  /** Resolves to its call, or to undefined if it has none that others can wait for. */
  readonly begun: Promise<ServiceCall | undefined>;
  /** Whether an earlier call may have carried it out. */
  isUnknown: boolean;
}

/** A write to make, or that was made. */
interface OneWrite extends Pick<StoredWrite, 'fingerprint'> {
  readonly caller: Caller;
  readonly name: string;
  /** Makes the call. */
  readonly send: () => Promise<unknown>;
}

type Write<Value, Result> = (caller: Caller, value: Value, write?: WriteKey) => Promise<Result>;
type Looked = Promise<StoredWrite | undefined>;

/** The pauses before a write of another process is looked up again, in milliseconds. */
const pauses = { shortest: 20, longest: 500 };

/**
 * Makes writes with a key as `PetStore` promises, over a pet store that does not.
 * @param repeatsUnknown whether the service has each write once per key, so that one whose outcome is unknown
 *   is sent again
 */
export function rememberWrites<Store extends PetStore>(
  petStore: Store,
  store: WriteStore,
  repeatsUnknown: boolean,
): Store {
  const writes = new RememberedWrites(store, repeatsUnknown);

  function method<Value, Result>(call: Write<Value, Result>): Write<Value, Result> {
    return (caller, value, write) => {
      if (write === undefined) return call(caller, value);
      const { id, fingerprint } = write;
      // A credential contains no space.
      const name = hash('sha256', `${caller.key.credential} ${id}`, 'base64url');
      const one = { caller, name, fingerprint, send: () => call(caller, value, write) };
      return writes.make(one) as Promise<Result>;
    };
  }

  return {
    ...petStore,
    createPet: method(petStore.createPet),
    sendMessage: method(petStore.sendMessage),
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** The writes with a key of a pet store. */
class RememberedWrites {
  readonly #store: WriteStore;
  readonly #repeatsUnknown: boolean;
  /** Those that this process makes. */
  readonly #flights = new Map<string, Flight>();

  constructor(store: WriteStore, repeatsUnknown: boolean) {
    this.#store = store;
    this.#repeatsUnknown = repeatsUnknown;
  }

  /** Returns what is stored of a write once no other process makes it. */
  async #whenEnded({ caller, name, fingerprint }: OneWrite, first: Looked) {
    let isElsewhere = false;
    let looked = first;
    for (let pauseMs = pauses.shortest; ; pauseMs = Math.min(2 * pauseMs, pauses.longest)) {
      const found = await untilDeadline(caller, () => isElsewhere, looked).catch((error) => {
        // It may have been stored that the call begins.
        this.#store.end(name, undefined);
        throw error;
      });
      if (found === undefined || found.result !== undefined) return found;
      isElsewhere = true;
      requireSame(found, fingerprint);
      await untilDeadline(caller, () => true, wait(pauseMs));
      looked = Promise.resolve(this.#store.begin(caller, name, fingerprint));
    }
  }

  /** Makes a write, unless it was made before. */
  async #begin(one: OneWrite): Promise<unknown> {
    const { caller, name, fingerprint } = one;
    const { promise: begun, resolve, reject } = Promise.withResolvers<ServiceCall | undefined>();
    begun.catch(() => {});
    const flight: Flight = { fingerprint, begun, isUnknown: false };
    this.#flights.set(name, flight);
    let call: ServiceCall | undefined;
    try {
      const found = this.#store.begin(caller, name, fingerprint);
      const before = found instanceof Promise ? await this.#whenEnded(one, found) : found;
      if (before?.result !== undefined) {
        requireSame(before, fingerprint);
        const result = decodeResult(before.result);
        flight.isUnknown = this.#repeatsUnknown && outcomeOf(result) === 'UNKNOWN';
        if (!flight.isUnknown) return replayed(caller, result);
      }
      const { length } = caller.calls;
      const result = one.send();
      const made = caller.calls[length];
      // One that has ended already was not sent.
      if (made?.outcome === undefined) call = made;
      if (call === undefined) this.#store.end(name, before);
      else {
        call.onEnd = (ended) => {
          this.#flights.delete(name);
          const isNew = outcomeOf(ended) !== 'NOT_DONE';
          this.#store.end(name, isNew ? { fingerprint, result: encodeResult(ended) } : before);
        };
      }
      return resultOf(flight, result);
    } catch (error) {
      // The next caller begins anew.
      if (caller.cancelled === undefined) reject(error);
      throw error;
    } finally {
      if (call === undefined) this.#flights.delete(name);
      resolve(call);
    }
  }

  /** Makes a write, or waits for the one in flight. */
  async make(one: OneWrite): Promise<unknown> {
    const { caller, name, fingerprint } = one;
    for (;;) {
      const flight = this.#flights.get(name);
      if (flight === undefined) return this.#begin(one);
      requireSame(flight, fingerprint);
      const call = await untilDeadline(caller, () => true, flight.begun);
      if (call !== undefined && this.#flights.get(name) === flight) {
        caller.isReplayed = true;
        return resultOf(flight, call.wait(caller));
      }
    }
  }
}

function requireSame(write: Pick<StoredWrite, 'fingerprint'>, fingerprint: string): void {
  if (write.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
}

/** Passes on what a write did before. */
function replayed(caller: Caller, result: unknown): unknown {
  caller.isReplayed = true;
  return result instanceof Error ? Promise.reject(result) : result;
}

/** Returns the result of a call. If an earlier one may have carried out the write, a failure leaves that open. */
function resultOf({ isUnknown }: Flight, result: Promise<unknown>): Promise<unknown> {
  if (!isUnknown) return result;
  return result.catch((error) => {
    throw outcomeOf(error) === 'NOT_DONE' ? asUnknown(error) : error;
  });
}
