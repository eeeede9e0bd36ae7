import DataLoader from 'dataloader';
import { type Backend, callOf } from '../contract/backend.ts';
import { readBearer } from '../contract/bearer.ts';
import type { Caller } from '../contract/caller.ts';
import { writeKeyOf } from '../contract/idempotency.ts';
import { type JsonText, parseJson } from '../contract/json.ts';
import {
  type Contract,
  isSafe,
  type List,
  type Operation,
  type Operations,
  type ResultOf,
  type ValueOf,
} from '../contract/operation.ts';
import type { RecordOf } from '../contract/record.ts';
import { ExplainedCalls, type ResponseKey } from './explained-calls.ts';
import { RestCalls } from './rest-calls.ts';

/** The caller of an operation. `usedKey` is set when a field needs the key and it is well-formed. */
type OperationCaller = Caller & { usedKey: boolean };

/** What the engine needs of the context of an operation. */
export interface CallsContext {
  readonly petStore: Calls;
}

/** A call to make. */
interface OneCall {
  readonly id: string;
  readonly parameters: unknown;
}

const nameOf = ({ id, parameters }: OneCall) => `${id} ${JSON.stringify(parameters)}`;

const batching = { batchScheduleFn: queueMicrotask, cacheKeyFn: nameOf };

/** An operation whose result may be text. */
type TextResponse = { readonly response: 'json' | { readonly listOf: unknown } };

/** A result as a field returns it: an array for a list, and JSON in which digits are text where a double has too few. */
type Plain<Of> = Of extends { readonly response: 'json' }
  ? unknown
  : Of extends { readonly response: List<infer Fields> }
    ? readonly RecordOf<Fields>[]
    : ResultOf<Of>;
// biome-ignore lint/suspicious/noConfusingVoidType: as in ValueOf.
type CallMethod<Of, Result> = [ValueOf<Of>] extends [void]
  ? (field: ResponseKey) => Promise<Result>
  : (value: ValueOf<Of>, field: ResponseKey) => Promise<Result>;

/**
 * The calls of a contract: one method per operation, and for lists and opaque JSON one whose result may be
 * the text of JSON, which is faster, for resolvers of the gateway.
 */
export type CallsOf<All extends Operations> = Calls & {
  readonly [Id in keyof All]: CallMethod<All[Id], Plain<All[Id]>>;
} & {
  readonly [Id in keyof All as All[Id] extends TextResponse
    ? `${string & Id}AsText`
    : never]: CallMethod<All[Id], ResultOf<All[Id]>>;
};

/**
 * The calls that the resolvers of one GraphQL request can make. Equal reads of the request are one call;
 * the calls are not shared with other requests. Each call rejects with UnauthenticatedError if the request
 * has no valid bearer token: the header is parsed when a field first needs the key, so introspection works
 * without one.
 */
export class Calls {
  /** Who makes the calls. */
  readonly caller: OperationCaller;
  readonly #contract: Contract;
  readonly #backend: Backend;
  #reads: DataLoader<OneCall, unknown, string> | undefined;
  #writes: readonly ResponseKey[] | undefined;
  /** Whether the operation has only one root field, whose read equals no other. */
  isAlone = false;
  /** Whether others than the gateway read results: they get arrays and objects. */
  isPlain = false;
  readonly explained: ExplainedCalls | undefined;

  /** Creates the class of the calls of a contract, with their methods. */
  static of<All extends Operations>(
    contract: Contract & { readonly operations: All },
  ): new (
    caller: OperationCaller,
    backend: Backend,
    isExplained?: boolean,
  ) => CallsOf<All> {
    class OwnCalls extends Calls {
      constructor(caller: OperationCaller, backend: Backend, isExplained?: boolean) {
        super(contract, caller, backend, isExplained);
      }
    }
    type Method = (this: Calls, value: unknown, field: ResponseKey) => Promise<unknown>;
    for (const [id, operation] of Object.entries<Operation>(contract.operations)) {
      const { parameters, query, body } = operation;
      const hasValue = parameters !== undefined || query !== undefined || body !== undefined;
      const asText: Method = hasValue
        ? function (value, field) {
            return this.#make(id, value, field);
          }
        : function (field) {
            return this.#make(id, undefined, field as ResponseKey);
          };
      const toPlain = plainOf(operation);
      if (toPlain === undefined) {
        Object.assign(OwnCalls.prototype, { [id]: asText });
        continue;
      }
      const asPlain: Method = async function (value, field) {
        return toPlain(await asText.call(this, value, field));
      };
      const either: Method = function (value, field) {
        return (this.isPlain ? asPlain : asText).call(this, value, field);
      };
      Object.assign(OwnCalls.prototype, { [id]: asPlain, [`${id}AsText`]: either });
    }
    return OwnCalls as never;
  }

  /** @param isExplained whether the calls of each field are kept for `ExplainedCalls` */
  constructor(contract: Contract, caller: OperationCaller, backend: Backend, isExplained = false) {
    this.#contract = contract;
    this.caller = caller;
    this.#backend = backend;
    this.explained = isExplained ? new ExplainedCalls(contract) : undefined;
  }

  /** Makes the call that shows whether the backend accepts the key. */
  probe(field: ResponseKey): Promise<unknown> {
    const { id, value } = this.#contract.probe;
    return this.#make(id, value, field);
  }

  /** Calls of other paths of the REST service. */
  get rest(): RestCalls {
    return new RestCalls((request) => this.#makeOne('send', request.method, request));
  }

  /** Makes the call of an operation for a field. */
  #make(id: string, parameters: unknown, field: ResponseKey): Promise<unknown> {
    const { method } = this.#contract.operations[id] as Operation;
    const result = this.#makeOne(id, method, parameters, field);
    if (this.explained === undefined) return result;
    const name = isSafe(method) ? nameOf({ id, parameters }) : field;
    return this.explained.explain(id, parameters, field, name, result);
  }

  /** Makes a call. Equal reads are one, until a write has ended. */
  #makeOne<Result>(
    id: OneCall['id'],
    method: string,
    parameters: unknown,
    field?: ResponseKey,
  ): Promise<Result> {
    const one = { id, parameters };
    if (!isSafe(method)) {
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
    const result = callOf(this.#backend, id)(caller, parameters, write) as Promise<Result>;
    const { explained } = this;
    if (explained === undefined) return result;
    const add = () => {
      const call = calls[length]?.operation === id ? calls[length] : undefined;
      explained.add(field ?? nameOf(one), caller, call, this.#backend.isBuiltin);
    };
    // Before the call of a write with a key, it is looked up whether it was done.
    if (write !== undefined) return result.finally(add);
    add();
    return result;
  }
}

/** Returns what makes a result plain, if it may be text. */
function plainOf({ response }: Operation) {
  if (response === 'json') return (text: unknown) => parseJson((text as JsonText).text, String);
  const isList = typeof response === 'object' && 'listOf' in response;
  return isList ? (list: unknown) => [...(list as Iterable<unknown>)] : undefined;
}
