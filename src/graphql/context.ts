import DataLoader from 'dataloader';
import { readBearer } from '../contract/bearer.ts';
import type { JsonText } from '../contract/json.ts';
import {
  type Caller,
  type Method,
  type OperationId,
  operations,
  type PetStore,
} from '../contract/pet-store.ts';
import { ExplainedCalls, type ResponseKey } from './explained-calls.ts';
import { RestCalls } from './rest-calls.ts';

/** The caller of an operation: the record of the request. */
export interface OperationCaller extends Caller {
  /** Set when a field needs the key and it is well-formed. */
  usedKey: boolean;
}

/** Options of `createContext`. */
export interface ContextOptions {
  /** Whether reads of the operation may be equal, which then are one call. */
  readonly hasEqualReads: boolean;
  /** Whether the calls of each field are kept for `ExplainedCalls`. */
  readonly isExplained: boolean;
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
} & { readonly rest: RestCalls; readonly explained: ExplainedCalls | undefined };

/** The context of a GraphQL request. */
export interface GatewayContext {
  readonly petStore: PetStoreCalls;
}

/** A call to make. */
interface OneCall {
  readonly id: OperationId | 'send';
  readonly parameters: unknown;
}

const nameOf = ({ id, parameters }: OneCall) => `${id} ${JSON.stringify(parameters)}`;

/** A service without bulk reads has one call for each distinct read, so nothing waits for others. */
const eachRead = { batch: false, batchScheduleFn: queueMicrotask, cacheKeyFn: nameOf };

/** Makes the calls of a request; each operation has a method, which is added below. */
class RequestCalls {
  readonly #caller: OperationCaller;
  readonly #petStore: PetStore;
  readonly #hasEqualReads: boolean;
  readonly explained: ExplainedCalls | undefined;
  #reads: DataLoader<OneCall, unknown, string> | undefined;

  constructor(caller: OperationCaller, petStore: PetStore, options: ContextOptions) {
    this.#caller = caller;
    this.#petStore = petStore;
    this.#hasEqualReads = options.hasEqualReads;
    this.explained = options.isExplained ? new ExplainedCalls() : undefined;
  }

  get rest(): RestCalls {
    return new RestCalls(
      (request) => this.make('send', request.method, request) as Promise<JsonText>,
    );
  }

  /** Makes a call for a field. Equal reads are one, until a write has ended. */
  make(
    id: OperationId | 'send',
    method: string,
    parameters: unknown,
    field?: ResponseKey,
  ): Promise<unknown> {
    const one = { id, parameters };
    let result: Promise<unknown>;
    if (method === 'POST') {
      result = this.#send(one, field).finally(() => this.#reads?.clearAll());
    } else if (this.#hasEqualReads) {
      this.#reads ??= new DataLoader(
        async ([read]) => [await this.#send(read as OneCall)],
        eachRead,
      );
      result = this.#reads.load(one);
    } else result = this.#send(one);
    if (this.explained === undefined || id === 'send' || field === undefined) return result;
    const name = method === 'POST' ? field : nameOf(one);
    return this.explained.explain(id, parameters, field, name, result);
  }

  #send(one: OneCall, field?: ResponseKey): Promise<unknown> {
    const caller = this.#caller;
    // Starts no field, and above all no mutation, after the client disconnects.
    if (caller.cancelled) return Promise.reject(caller.cancelled);
    const { authorization, calls, key } = caller;
    try {
      if (authorization !== key.header || !authorization) key.header = readBearer(authorization);
    } catch (error) {
      return Promise.reject(error);
    }
    caller.usedKey = true;
    const { length } = calls;
    const result = (this.#petStore[one.id] as Method)(caller, one.parameters);
    this.explained?.add(field ?? nameOf(one), caller, calls[length], this.#petStore.isBuiltin);
    return result;
  }
}

// When the module loads, because the methods follow from declarations alone.
for (const [id, { method }] of Object.entries(operations)) {
  Object.defineProperty(RequestCalls.prototype, id, {
    value(this: RequestCalls, parameters: unknown, field: ResponseKey) {
      return this.make(id as OperationId, method, parameters, field);
    },
  });
}

/**
 * Creates the context of a request. The `Authorization` header is parsed when a field first needs
 * the key, so introspection works without one.
 */
export function createContext(
  caller: OperationCaller,
  petStore: PetStore,
  options: ContextOptions,
): GatewayContext {
  return { petStore: new RequestCalls(caller, petStore, options) as unknown as PetStoreCalls };
}
