import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { BackendUnavailableError, IdempotencyKeyReusedError } from '../contract/error.ts';
import type { WriteKey } from '../contract/idempotency.ts';
import type { Caller, PetStore, ServiceCall } from '../contract/pet-store.ts';
import { untilDeadline } from './builtin/query-deadline.ts';
import { asUnknown, decodeResult, encodeResult, outcomeOf } from './write-result.ts';

/** What is stored of a write: its encoded result, or that another process makes its call. */
export interface StoredWrite {
  readonly fingerprint: string;
  readonly result?: string | undefined;
}

/** What a store of writes returns; undefined if it had stored nothing. */
export type FoundWrite = StoredWrite | undefined;

/** Keeps writes for 24 hours, by names that are hashes. */
export interface WriteStore extends AsyncDisposable {
  /**
   * Returns what is stored of a write, and if that is nothing, stores that its call begins. Throws or
   * rejects with an error whose outcome is `NOT_DONE` if it can't.
   */
  begin(caller: Caller, name: string, fingerprint: string): FoundWrite | Promise<FoundWrite>;
  /** Replaces what `begin` has stored, or removes it. */
  end(name: string, write: FoundWrite): void;
}

/** Creates the error of a write that is not sent, because its store refuses it. */
export function notStored(message: string): Error {
  return new BackendUnavailableError(message, { writeOutcome: 'NOT_DONE', retryAfterMs: 1000 });
}

/** A write that this process makes, or looks up. */
interface Flight {
  /** Missing until it is known which parameters are right. */
  fingerprint?: string;
  call?: ServiceCall;
  /** Whether an earlier call may have carried it out. */
  isUnknown?: boolean | undefined;
  /** Why the store failed. */
  error?: unknown;
}

type Write<Value, Result> = (caller: Caller, value: Value, write?: WriteKey) => Promise<Result>;

/**
 * Makes writes with a key as `PetStore` promises, over a pet store that does not. `repeatsUnknown`: the service
 * does so itself, so that a write whose outcome is unknown is sent again.
 */
export function rememberWrites<Store extends PetStore>(
  petStore: Store,
  store: WriteStore,
  repeatsUnknown: boolean,
): Store {
  const writes = new RememberedWrites(store, repeatsUnknown);

  function method<Value, Result>(call: Write<Value, Result>): Write<Value, Result> {
    return (caller, value, write) =>
      write === undefined
        ? call(caller, value)
        : (writes.make(caller, write, () => call(caller, value, write)) as Promise<Result>);
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

class RememberedWrites {
  readonly #store: WriteStore;
  readonly #repeatsUnknown: boolean;
  readonly #flights = new Map<string, Flight>();

  constructor(store: WriteStore, repeatsUnknown: boolean) {
    this.#store = store;
    this.#repeatsUnknown = repeatsUnknown;
  }

  /** Makes a write, waits for the one in flight, or returns what it did. */
  async make(caller: Caller, write: WriteKey, send: () => Promise<unknown>): Promise<unknown> {
    const { fingerprint } = write;
    // A credential contains no space.
    const name = hash('sha256', `${caller.key.credential} ${write.id}`, 'base64url');
    let joined: Flight | undefined;
    for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, 500)) {
      if (joined?.error !== undefined) throw joined.error;
      joined = this.#flights.get(name);
      let found: Partial<StoredWrite> | undefined = joined;
      if (joined === undefined) {
        const flight: Flight = {};
        this.#flights.set(name, flight);
        try {
          const looked = this.#store.begin(caller, name, fingerprint);
          // After a pause, another process may have made it.
          const isPromise = looked instanceof Promise;
          const stored = isPromise
            ? await untilDeadline(caller, () => pauseMs > 20, looked)
            : looked;
          flight.fingerprint = stored?.fingerprint ?? fingerprint;
          flight.isUnknown = stored && this.#mayBeSentAgain(stored, fingerprint);
          if (stored === undefined || flight.isUnknown) {
            return this.#send(caller, name, flight, stored, send);
          }
          found = stored;
        } catch (error) {
          if (caller.cancelled === undefined) flight.error = error;
          this.#store.end(name, undefined);
          throw error;
        } finally {
          const isElsewhere = found !== undefined && found.result === undefined;
          // One caller at a time looks it up.
          if (isElsewhere) setTimeout(() => this.#flights.delete(name), pauseMs);
          else if (flight.call === undefined) this.#flights.delete(name);
        }
      }
      if ((found?.fingerprint ?? fingerprint) !== fingerprint)
        throw new IdempotencyKeyReusedError();
      if (found?.result !== undefined || joined?.call !== undefined) caller.isReplayed = true;
      if (found?.result !== undefined) return resultOf(found.result);
      if (joined?.call !== undefined) return unlessKnown(joined, joined.call.wait(caller));
      await untilDeadline(caller, () => true, wait(pauseMs));
    }
  }

  /** Whether sending a write again finds out what it did. */
  #mayBeSentAgain(stored: StoredWrite, fingerprint: string): boolean {
    const { result } = stored;
    if (!this.#repeatsUnknown || !result || stored.fingerprint !== fingerprint) return false;
    return outcomeOf(decodeResult(result)) === 'UNKNOWN';
  }

  #send(
    caller: Caller,
    name: string,
    flight: Flight,
    before: FoundWrite,
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    const { length } = caller.calls;
    const result = send();
    const call = caller.calls[length];
    // One that has ended already was not sent.
    if (call === undefined || call.outcome !== undefined) this.#store.end(name, before);
    else {
      flight.call = call;
      call.onEnd = (ended) => {
        this.#flights.delete(name);
        const { fingerprint = '' } = flight;
        const isKept = outcomeOf(ended) !== 'NOT_DONE';
        this.#store.end(name, isKept ? { fingerprint, result: encodeResult(ended) } : before);
      };
    }
    return unlessKnown(flight, result);
  }
}

/** Returns what a write did, or throws its error. */
function resultOf(text: string): unknown {
  const result = decodeResult(text);
  if (result instanceof Error) throw result;
  return result;
}

/** A failure leaves open what became of a write that an earlier call may have carried out. */
function unlessKnown({ isUnknown }: Flight, result: Promise<unknown>): Promise<unknown> {
  if (!isUnknown) return result;
  return result.catch((error) => {
    throw outcomeOf(error) === 'NOT_DONE' ? asUnknown(error) : error;
  });
}
