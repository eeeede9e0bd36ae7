import DataLoader from 'dataloader';
import { readBearer } from '../contract/bearer.ts';
import { BackendTimeoutError, CancelledError, ErrorResponse } from '../contract/error.ts';
import { type Call, type OperationId, operations, type PetStore } from '../contract/pet-store.ts';
import { RestCalls, type SendRest } from './rest-calls.ts';

/** Options of `createContext`. */
export interface ContextOptions
  extends Pick<Call, 'key' | 'requestId' | 'forwarded' | 'observer' | 'scope'> {
  readonly petStore: PetStore;
  /** The unchanged `Authorization` header. */
  readonly authorization: string | undefined;
  /** Aborted when the client disconnects or its deadline passes. */
  readonly signal: AbortSignal;
  readonly listener?: CallListener;
}

/** Learns how the calls of a request use its key. */
export interface CallListener {
  /** Set when a field needs the key and it is well-formed. */
  usedKey: boolean;
  /** Set when a call succeeds or returns 404, so the backend has accepted the key. */
  keyAccepted: boolean;
}

/**
 * The calls that the resolvers of one GraphQL request can make. Equal reads of the request are one
 * call; the calls are not shared with other requests. Each call rejects with UnauthenticatedError
 * if the request has no valid bearer token.
 */
export type PetStoreCalls = {
  readonly [Id in OperationId]: (
    parameters: Parameters<PetStore[Id]>[1],
    field: ResponseKey,
  ) => ReturnType<PetStore[Id]>;
} & { readonly rest: RestCalls };

/** The context of a GraphQL request. */
export interface GatewayContext {
  readonly petStore: PetStoreCalls;
}

/** The method of any operation. */
type Method = (call: Call, parameters: unknown) => Promise<unknown>;

const operationIds = Object.keys(operations) as OperationId[];

/** The response key of the root field that makes a call; only explained contexts use it. */
export type ResponseKey = string | number;

/**
 * Creates the context of a request. The `Authorization` header is parsed when a field first needs
 * the key, so introspection works without one.
 */
export function createContext(options: ContextOptions): GatewayContext {
  const { petStore, key, requestId, signal, listener, observer, scope, forwarded } = options;
  let created: Call | undefined;
  /** A part of the key of each read, so that reads after a write are new calls. */
  let writes = 0;

  async function withCall<Value>(send: (call: Call) => Promise<Value>): Promise<Value> {
    // Starts no field, and above all no mutation, after the client disconnects.
    if (signal.aborted) throw cancelledError(signal);
    if (created === undefined) {
      const { apiKey, authorization } = readBearer(options.authorization);
      created = { apiKey, authorization, key, requestId, signal, observer, scope, forwarded };
      if (listener) listener.usedKey = true;
    }
    try {
      const value = await send(created);
      if (listener) listener.keyAccepted = true;
      return value;
    } catch (error) {
      if (listener && error instanceof ErrorResponse) listener.keyAccepted ||= error.status === 404;
      throw error instanceof CancelledError ? cancelledError(signal) : error;
    }
  }

  const write: typeof withCall = (send) => withCall(send).finally(() => writes++);
  const send: SendRest = (request) => withCall((call) => petStore.send(call, request));
  const keyOf = (parameters: unknown) => `${writes} ${JSON.stringify(parameters)}`;
  const calls: Record<string, unknown> = {
    rest: new RestCalls(
      loadEach(send, ({ path }) => keyOf(path)),
      (request) => write((call) => petStore.send(call, request)),
    ),
  };
  for (const id of operationIds) {
    const run = (parameters: unknown) => (call: Call) => (petStore[id] as Method)(call, parameters);
    const load = loadEach(([parameters]: readonly [unknown]) => withCall(run(parameters)), keyOf);
    calls[id] =
      operations[id].method === 'GET'
        ? (parameters: unknown) => load([parameters])
        : (parameters: unknown) => write(run(parameters));
  }
  return { petStore: calls as PetStoreCalls };
}

/** Creates a loader for a service without bulk reads: each distinct key is one call. */
function loadEach<Key, Value>(
  load: (key: Key) => Promise<Value>,
  cacheKeyFn: (key: Key) => string,
): (key: Key) => Promise<Value> {
  let loader: DataLoader<Key, Value, string> | undefined;
  return (key) => {
    loader ??= new DataLoader<Key, Value, string>(async ([one]) => [await load(one as Key)], {
      cacheKeyFn,
      // Each key is a separate call, so nothing is gained by waiting for others.
      batch: false,
      batchScheduleFn: queueMicrotask,
    });
    return loader.load(key);
  };
}

/** A caller in this process may set a deadline with `AbortSignal.timeout`. */
function cancelledError({ reason }: AbortSignal): CancelledError | BackendTimeoutError {
  if (reason?.name !== 'TimeoutError') return new CancelledError();
  const message = "The pet store did not respond before the request's deadline.";
  return new BackendTimeoutError(message, { writeOutcome: 'NOT_DONE' });
}
