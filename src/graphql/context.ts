import DataLoader from 'dataloader';
import { readBearer } from '../contract/bearer.ts';
import { writeKeyOf } from '../contract/idempotency.ts';
import { type JsonText, parseJson } from '../contract/json.ts';
import {
  type Caller,
  type ListPetsQuery,
  type Method,
  type OperationId,
  operations,
  type PetStore,
  type RestRequest,
} from '../contract/pet-store.ts';
import type { Message, NewPet, Pet, Pets } from '../contract/records.ts';
import { ExplainedCalls, type ResponseKey } from './explained-calls.ts';
import { RestCalls } from './rest-calls.ts';

/** The caller of an operation. `usedKey` is set when a field needs the key and it is well-formed. */
type OperationCaller = Caller & { usedKey: boolean };

/** What the resolvers need of the context of an operation. */
export interface PetStoreContext {
  readonly petStore: PetStoreCalls;
}

/** A call to make. */
interface OneCall {
  readonly id: OperationId | 'send';
  readonly parameters: unknown;
}

const nameOf = ({ id, parameters }: OneCall) => `${id} ${JSON.stringify(parameters)}`;

const batching = { batchScheduleFn: queueMicrotask, cacheKeyFn: nameOf };

/**
 * The calls that the resolvers of one GraphQL request can make, one method per operation of the
 * contract. Equal reads of the request are one call; the calls are not shared with other requests. Each
 * call rejects with UnauthenticatedError if the request has no valid bearer token: the header is parsed
 * when a field first needs the key, so introspection works without one.
 */
export class PetStoreCalls {
  /** Who makes the calls. */
  readonly caller: OperationCaller;
  readonly #petStore: PetStore;
  #reads: DataLoader<OneCall, unknown, string> | undefined;
  #writes: readonly ResponseKey[] | undefined;
  /** Whether the operation has only one root field, whose read equals no other. */
  isAlone = false;
  /** Whether others than the gateway read results: they get arrays and objects. */
  isPlain = false;
  readonly explained: ExplainedCalls | undefined;

  /** @param isExplained whether the calls of each field are kept for `ExplainedCalls` */
  constructor(caller: OperationCaller, petStore: PetStore, isExplained = false) {
    this.caller = caller;
    this.#petStore = petStore;
    this.explained = isExplained ? new ExplainedCalls() : undefined;
  }

  async listPets(query: ListPetsQuery, field: ResponseKey): Promise<readonly Pet[]> {
    return [...(await this.#make<Pets>('listPets', query, field))];
  }

  /** Returns the JSON, in which a number that a double cannot represent is a string of its digits. */
  async listOrders(field: ResponseKey): Promise<unknown> {
    return parseJson((await this.#make<JsonText>('listOrders', undefined, field)).text, String);
  }

  /** As `listPets` and `listOrders`, for resolvers of the gateway: as the text of JSON where that is faster. */
  listPetsAsText(query: ListPetsQuery, field: ResponseKey): Promise<Pets> {
    return this.isPlain ? this.listPets(query, field) : this.#make('listPets', query, field);
  }

  listOrdersAsText(field: ResponseKey): Promise<unknown> {
    return this.isPlain ? this.listOrders(field) : this.#make('listOrders', undefined, field);
  }

  createPet(pet: NewPet, field: ResponseKey): Promise<Pet> {
    return this.#make('createPet', pet, field);
  }

  getPet(petId: Parameters<PetStore['getPet']>[1], field: ResponseKey): Promise<Pet> {
    return this.#make('getPet', petId, field);
  }

  sendMessage(message: string, field: ResponseKey): Promise<Message> {
    return this.#make('sendMessage', message, field);
  }

  /** Calls of other paths of the REST service. */
  get rest(): RestCalls {
    return new RestCalls((request) => this.#makeOne('send', request.method, request));
  }

  /** Makes the call of an operation for a field. */
  #make<Result>(id: OperationId, parameters: unknown, field: ResponseKey): Promise<Result> {
    const { method } = operations[id];
    const result = this.#makeOne<Result>(id, method, parameters, field);
    if (this.explained === undefined) return result;
    const name = method === 'POST' ? field : nameOf({ id, parameters });
    return this.explained.explain(id, parameters, field, name, result);
  }

  /** Makes a call. Equal reads are one, until a write has ended. */
  #makeOne<Result>(
    id: OneCall['id'],
    method: RestRequest['method'],
    parameters: unknown,
    field?: ResponseKey,
  ): Promise<Result> {
    const one = { id, parameters };
    if (method === 'POST') {
      const write = this.#send<Result>(one, field ?? nameOf(one));
      return write.finally(() => this.#reads?.clearAll());
    }
    if (this.isAlone && id !== 'send') return this.#send(one);
    // A service without bulk reads has one call for each distinct read. Each resolves by itself.
    this.#reads ??= new DataLoader(
      async (reads) => reads.map((read) => this.#send(read)),
      batching,
    );
    return this.#reads.load(one) as Promise<Result>;
  }

  /** Counts writes of one field, and equal ones to another path: each is a write of its own. */
  #keyOf(field: ResponseKey, { id, parameters }: OneCall) {
    const writes = this.#writes ?? [];
    const before = writes.filter((other) => other === field).length;
    this.#writes = [...writes, field];
    return writeKeyOf(this.caller, before ? `${field} ${before}` : field, id, parameters);
  }

  #send<Result>(one: OneCall, field?: ResponseKey): Promise<Result> {
    const { caller } = this;
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
    const { id, parameters } = one;
    // Only writes have one.
    const write = field === undefined ? undefined : this.#keyOf(field, one);
    const result = (this.#petStore[id] as Method)(caller, parameters, write) as Promise<Result>;
    const { explained } = this;
    if (explained === undefined) return result;
    const add = () => {
      const call = calls[length]?.operation === id ? calls[length] : undefined;
      explained.add(field ?? nameOf(one), caller, call, this.#petStore.isBuiltin);
    };
    // Before the call of a write with a key, it is looked up whether it was done.
    if (write !== undefined) return result.finally(add);
    add();
    return result;
  }
}
