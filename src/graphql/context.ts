import DataLoader from 'dataloader';
import { readBearer } from '../contract/bearer.ts';
import { BackendTimeoutError, CancelledError, ErrorResponse } from '../contract/error.ts';
import type { JsonText } from '../contract/json.ts';
import {
  type Call,
  type Method,
  type OperationId,
  operations,
  type PetStore,
} from '../contract/pet-store.ts';
import { RestCalls } from './rest-calls.ts';

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

/** The response key of the root field that makes a call; only explained contexts use it. */
export type ResponseKey = string | number;

/** A call to make. */
interface OneCall {
  readonly id: OperationId | 'send';
  readonly parameters: unknown;
}

/** A service without bulk reads has one call for each distinct read, so nothing waits for others. */
const eachRead = {
  batch: false,
  batchScheduleFn: queueMicrotask,
  cacheKeyFn: ({ id, parameters }: OneCall) => `${id} ${JSON.stringify(parameters)}`,
};

/** Makes the calls of a request; each operation has a method, which is added below. */
class RequestCalls {
  readonly #options: ContextOptions;
  #reads: DataLoader<OneCall, unknown, string> | undefined;
  #call: Call | undefined;

  constructor(options: ContextOptions) {
    this.#options = options;
  }

  get rest(): RestCalls {
    return new RestCalls(
      (request) => this.make('send', request.method, request) as Promise<JsonText>,
    );
  }

  /** Makes a call. Equal reads are one, until a write has ended. */
  make(id: OperationId | 'send', method: string, parameters: unknown): Promise<unknown> {
    if (method === 'POST') {
      return this.#send({ id, parameters }).finally(() => this.#reads?.clearAll());
    }
    this.#reads ??= new DataLoader(async ([read]) => [await this.#send(read as OneCall)], eachRead);
    return this.#reads.load({ id, parameters });
  }

  async #send({ id, parameters }: OneCall): Promise<unknown> {
    const { petStore, listener, signal, key, requestId, observer, scope, forwarded } =
      this.#options;
    // Starts no field, and above all no mutation, after the client disconnects.
    if (signal.aborted) throw cancelledError(signal);
    if (this.#call === undefined) {
      const { apiKey, authorization } = readBearer(this.#options.authorization);
      this.#call = { apiKey, authorization, key, requestId, signal, observer, scope, forwarded };
      if (listener) listener.usedKey = true;
    }
    try {
      const value = await (petStore[id] as Method)(this.#call, parameters);
      if (listener) listener.keyAccepted = true;
      return value;
    } catch (error) {
      if (listener && error instanceof ErrorResponse) listener.keyAccepted ||= error.status === 404;
      throw error instanceof CancelledError ? cancelledError(signal) : error;
    }
  }
}

for (const [id, { method }] of Object.entries(operations)) {
  Object.defineProperty(RequestCalls.prototype, id, {
    value(this: RequestCalls, parameters: unknown) {
      return this.make(id as OperationId, method, parameters);
    },
  });
}

/**
 * Creates the context of a request. The `Authorization` header is parsed when a field first needs
 * the key, so introspection works without one.
 */
export function createContext(options: ContextOptions): GatewayContext {
  return { petStore: new RequestCalls(options) as unknown as PetStoreCalls };
}

/** A caller in this process may set a deadline with `AbortSignal.timeout`. */
function cancelledError({ reason }: AbortSignal): CancelledError | BackendTimeoutError {
  if (reason?.name !== 'TimeoutError') return new CancelledError();
  const message = "The pet store did not respond before the request's deadline.";
  return new BackendTimeoutError(message, { writeOutcome: 'NOT_DONE' });
}
