import { type Backend, type Call, callOf } from '../contract/backend.ts';
import type { WriteKey } from '../contract/caller.ts';
import { untilDeadline } from '../contract/deadline.ts';
import {
  BackendUnavailableError,
  ErrorResponse,
  IdempotencyKeyReusedError,
  PetStoreError,
  type WriteOutcome,
} from '../contract/error.ts';
import { nameOfWrite } from '../contract/idempotency.ts';
import { type Contract, isIdempotent, isSafe } from '../contract/operation.ts';
import type { KeyedCaller } from '../keys/api-key.ts';
import { asUnknown, decodeResult, encodeResult, outcomeOf } from './result.ts';

/** What is stored of a write: its encoded result, or that another process makes its call. */
export interface StoredWrite {
  readonly fingerprint: string;
  readonly result?: string | undefined;
  /** Whether its call carried the key to the service, which then does not do it twice. */
  readonly carriedKey: boolean;
}

/** What a store of writes returns; undefined if it had stored nothing. */
export type FoundWrite = StoredWrite | undefined;

/** The service that carries out writes. */
export interface WriteService {
  /** Its base URL, so that gateways before other services can share a store. */
  readonly url: string;
  /** Whether a write whose outcome is unknown is repeated: each call carries the key, which the service honours. */
  readonly carriesKey: boolean;
}

/** Keeps writes for 24 hours, by names that are hashes. */
export interface WriteStore extends AsyncDisposable {
  /**
   * Returns what is stored of a write, and if that is nothing, stores that its call begins. Throws or
   * rejects if it can't, with the outcome `NOT_DONE` only if it knows that nothing is stored.
   */
  begin(caller: KeyedCaller, name: string, write: StoredWrite): FoundWrite | Promise<FoundWrite>;
  /** Replaces what `begin` has stored, or removes it. */
  end(name: string, write: FoundWrite): void;
}

/** Creates the error of a write that is not sent, because its store refuses it, or can't be asked what it has. */
export function notStored(message: string, writeOutcome: WriteOutcome = 'NOT_DONE'): Error {
  return new BackendUnavailableError(message, { writeOutcome, retryAfterMs: 1000 });
}

/** Makes writes with a key as `BackendOf` promises, over a backend that does not. */
export function rememberWrites<Of extends Backend<KeyedCaller>>(
  { operations, services: upstreams, probe }: Contract,
  backend: Of,
  store: WriteStore,
  services: Readonly<Record<string, WriteService>>,
): Of {
  const callProbe = callOf(backend, probe.id);

  function method(id: string, service: WriteService): Call<KeyedCaller> {
    const call = callOf(backend, id);
    const check = (caller: KeyedCaller) => callProbe(caller, probe.value);
    const writes = new RememberedWrites(check, store, service);
    return (caller, value, write) =>
      write === undefined
        ? call(caller, value)
        : writes.make(caller, write, () => call(caller, value, write));
  }

  const remembered = Object.entries(operations).flatMap(([id, { method: name, service }]) => {
    if (isSafe(name)) return [];
    const { url, carriesKey } = services[service] as WriteService;
    // One that has the same effect twice is repeated without a key, too.
    return [[id, method(id, { url, carriesKey: carriesKey || isIdempotent(name) })]];
  });
  const [main = ''] = Object.keys(upstreams);
  return {
    ...backend,
    ...Object.fromEntries(remembered),
    // Nothing shows that the service honours the header on other paths.
    send: method('send', { ...(services[main] as WriteService), carriesKey: false }),
    async [Symbol.asyncDispose]() {
      await backend[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** A write that this process makes or looks up. */
class Flight {
  /** The right fingerprint, once the write is made, here or elsewhere; none if it is not. */
  readonly known = Promise.withResolvers<Partial<StoredWrite>>();
  /** What it did, if that is known, when it has ended. */
  readonly ended = Promise.withResolvers<FoundWrite>();
}

/** Makes a read that shows whether the key is accepted. */
type Check = (caller: KeyedCaller) => Promise<unknown>;

class RememberedWrites {
  readonly #check: Check;
  readonly #store: WriteStore;
  readonly #service: WriteService;
  readonly #flights = new Map<string, Flight>();

  constructor(check: Check, store: WriteStore, service: WriteService) {
    this.#check = check;
    this.#store = store;
    this.#service = service;
  }

  /** Makes a write, waits for the one in flight, or returns what it did. */
  async make(caller: KeyedCaller, write: WriteKey, send: () => Promise<unknown>): Promise<unknown> {
    const { fingerprint } = write;
    const name = nameOfWrite(caller, write, this.#service.url);
    for (;;) {
      const flight = this.#flights.get(name);
      if (flight === undefined) return this.#begin(caller, name, fingerprint, send);
      requireSame(await untilDeadline(caller, () => true, flight.known.promise), fingerprint);
      const found = await untilDeadline(caller, () => true, flight.ended.promise);
      if (found !== undefined) return this.#replay(caller, found, fingerprint);
    }
  }

  async #begin(
    caller: KeyedCaller,
    name: string,
    fingerprint: string,
    send: () => Promise<unknown>,
  ) {
    const flight = new Flight();
    this.#flights.set(name, flight);
    const end = (write: FoundWrite) => {
      this.#flights.delete(name);
      flight.known.resolve(write ?? {});
      flight.ended.resolve(write);
    };
    const begun = { fingerprint, carriedKey: this.#service.carriesKey };
    const before = await this.#lookUp(caller, name, begun, flight).catch((error) => {
      // It may have been stored that the call begins.
      this.#store.end(name, undefined);
      end(undefined);
      throw error;
    });
    // Sending it again finds out what it did.
    const isUnknown =
      begun.carriedKey &&
      before?.carriedKey === true &&
      before.fingerprint === fingerprint &&
      outcomeOf(decodeResult(before.result ?? 'null')) === 'UNKNOWN';
    if (before !== undefined && !isUnknown) {
      end(before);
      return this.#replay(caller, before, fingerprint);
    }
    flight.known.resolve({ fingerprint });
    const { length } = caller.calls;
    const result = send();
    const call = caller.calls[length];
    const store = (write: FoundWrite) => {
      this.#store.end(name, write);
      end(write);
    };
    /** Ends a write that was not done: what is stored of an earlier attempt stays. */
    const drop = (shared?: FoundWrite) => {
      if (before === undefined) this.#store.end(name, undefined);
      end(before ?? shared);
    };
    // One that has ended already was not sent.
    if (call === undefined || call.outcome !== undefined) drop();
    else {
      call.onEnd = (outcome) => {
        const became = outcomeOf(outcome);
        const write = { ...begun, result: encodeResult(outcome) };
        markFinal(outcome, begun);
        if (became === 'DONE' || (became === 'UNKNOWN' && before === undefined)) store(write);
        // Those that wait share a refusal of the service; a later one is a new attempt.
        else drop(outcome instanceof ErrorResponse ? write : undefined);
      };
    }
    return isUnknown ? result.catch(throwUnknown) : result;
  }

  /** Returns what is stored of a write, once no other process makes it. */
  async #lookUp(caller: KeyedCaller, name: string, write: StoredWrite, flight: Flight) {
    for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, 500)) {
      const begun = this.#store.begin(caller, name, write);
      // Until a shared store has replied, the write may be done.
      const isAsked = begun instanceof Promise;
      const found = await untilDeadline(caller, () => isAsked, Promise.resolve(begun));
      if (found === undefined || found.result !== undefined) return found;
      flight.known.resolve(found);
      requireSame(found, write.fingerprint);
      const pause = new Promise((resolve) => setTimeout(resolve, pauseMs));
      await untilDeadline(caller, () => true, pause);
    }
  }

  /** Returns what a write did, or throws its error. A key that the service has not accepted makes a read first. */
  async #replay(caller: KeyedCaller, stored: StoredWrite, fingerprint: string): Promise<unknown> {
    requireSame(stored, fingerprint);
    const value = decodeResult(stored.result ?? '');
    if (outcomeOf(value) !== 'NOT_DONE') caller.isReplayed = true;
    markFinal(value, stored);
    if (value instanceof Error) throw value;
    // A success that breaks the contract proves it, too.
    const check = (error: Error) => outcomeOf(error) === 'DONE' || throwUnknown(error);
    if (!caller.key.isAccepted) await this.#check(caller).catch(check);
    return value;
  }
}

function requireSame(known: Partial<StoredWrite>, fingerprint: string): void {
  if ((known.fingerprint ?? fingerprint) !== fingerprint) throw new IdempotencyKeyReusedError();
}

/** Marks an error whose outcome stays unknown: nothing can find out what the service did without the key. */
function markFinal(result: unknown, { carriedKey }: StoredWrite): void {
  const isUnknown = result instanceof PetStoreError && result.writeOutcome === 'UNKNOWN';
  if (isUnknown && !carriedKey) result.isFinal = true;
}

/** A failure leaves open what became of a write that an earlier call may have carried out. */
function throwUnknown(error: Error): never {
  throw outcomeOf(error) === 'NOT_DONE' ? asUnknown(error) : error;
}
