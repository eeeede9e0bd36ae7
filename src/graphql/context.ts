import DataLoader from 'dataloader';
import { readBearer } from '../contract/bearer.ts';
import { BackendTimeoutError, ErrorResponse } from '../contract/error.ts';
import type { Call, ListPetsQuery, PetStore } from '../contract/pet-store.ts';
import type { Int64, Message, NewPet, Pet } from '../contract/records.ts';

/** What a GraphQL request brings along, and where its calls go. */
export interface ContextOptions {
  readonly petStore: PetStore;
  /** The `Authorization` header as it arrived. */
  readonly authorization: string | undefined;
  readonly requestId: string;
  /** Aborted when the client is gone, or when its own deadline has passed. */
  readonly signal: AbortSignal;
  readonly listener?: CallListener;
}

/** Follows the calls of a request. */
export interface CallListener {
  /** Follows the calls that the backend makes. */
  readonly observe: NonNullable<Call['observe']>;
  /** Called when a field first asks for the key, and there is a well-formed one. */
  onKey(): void;
  /** Called when the backend has answered a call, so that it has accepted the key. */
  onKeyAccepted(): void;
}

/**
 * What the resolvers of one GraphQL request work with. Within it, equal reads reach the backend
 * once; nothing is shared with another request.
 */
export interface GatewayContext {
  /** `GET /pets`, once for each pair of limit and status. */
  readonly pets: Reads<ListPetsQuery, readonly Pet[]>;
  /** `GET /pets/{petId}`, once for each id. */
  readonly pet: Reads<Int64, Pet>;
  /** `GET /store/orders`, once. */
  readonly orders: Reads<'all', unknown>;
  /** `POST /pets`. @throws UnauthenticatedError when the request has no usable API key. */
  addPet(pet: NewPet): Promise<Pet>;
  /** `POST /messages`. @throws UnauthenticatedError when the request has no usable API key. */
  sendMessage(message: string): Promise<Message>;
}

type Reads<Key, Value> = Pick<DataLoader<Key, Value, string>, 'load'>;

/**
 * The context of one request. The credential is read when a field first needs it, so that
 * introspection works without a key.
 */
export function createContext(options: ContextOptions): GatewayContext {
  const { petStore, authorization, requestId, signal, listener } = options;
  let credential: Call | undefined;

  async function call<Value>(send: (call: Call) => Promise<Value>): Promise<Value> {
    // Starts no field after the client disconnects: a later mutation least of all.
    signal.throwIfAborted();
    if (credential === undefined) {
      const { apiKey, authorization: verbatim } = readBearer(authorization);
      const observe = listener?.observe;
      credential = { apiKey, authorization: verbatim, requestId, signal, observe };
      listener?.onKey();
    }
    try {
      const value = await send(credential);
      listener?.onKeyAccepted();
      return value;
    } catch (error) {
      if (error instanceof ErrorResponse && error.status === 404) listener?.onKeyAccepted();
      throw error;
    }
  }

  return {
    pets: loadEach(
      (query) => call((to) => petStore.listPets(to, query)),
      ({ limit, status }) => `${limit} ${status}`,
      signal,
    ),
    pet: loadEach(
      (petId) => call((to) => petStore.getPet(to, petId)),
      (petId) => petId,
      signal,
    ),
    orders: loadEach(
      () => call((to) => petStore.listOrders(to)),
      (key) => key,
      signal,
    ),
    addPet: (pet) => call((to) => petStore.createPet(to, pet)),
    sendMessage: (message) => call((to) => petStore.sendMessage(to, message)),
  };
}

/** A loader for a service without bulk reads: one call for each different key, side by side. */
function loadEach<Key, Value>(
  load: (key: Key) => Promise<Value>,
  cacheKeyFn: (key: Key) => string,
  signal: AbortSignal,
): Reads<Key, Value> {
  let loader: DataLoader<Key, Value, string> | undefined;
  return {
    load(key) {
      loader ??= new DataLoader<Key, Value, string>(([one]) => loadOne(load, one as Key, signal), {
        cacheKeyFn,
        // There is nothing to gather: each key is a call of its own, and starts without a wait.
        batch: false,
        batchScheduleFn: queueMicrotask,
      });
      return loader.load(key);
    },
  };
}

async function loadOne<Key, Value>(
  load: (key: Key) => Promise<Value>,
  key: Key,
  signal: AbortSignal,
): Promise<(Value | Error)[]> {
  try {
    return [await load(key)];
  } catch (error) {
    return [toError(error, signal)];
  }
}

function toError(error: unknown, signal: AbortSignal): Error {
  // A caller in this process may set a deadline, as `AbortSignal.timeout` does.
  if (error === signal.reason && error instanceof DOMException && error.name === 'TimeoutError') {
    return new BackendTimeoutError("The pet store did not answer before the request's deadline.");
  }
  return error instanceof Error ? error : new Error('Thrown without an Error', { cause: error });
}
