import type { Int64 } from './int64.ts';
import type { JsonText } from './json.ts';
import {
  getPetRemoval,
  type Message,
  type NewPet,
  type Pet,
  type PetStatus,
  type Pets,
} from './records.ts';

/** Who made a request, for the log and traces: `credential` is a keyed hash of the API key. */
export type CallerIdentity = Readonly<Partial<Record<'account' | 'keyId' | 'credential', string>>>;

/** Who calls a backend: the scope of a request. */
export interface Caller {
  /** Its API key: the token, empty without one, and the latest valid `Authorization` header. */
  readonly key: { readonly credential: string; header: string | undefined };
  /** The unchanged `Authorization` header, which has a bearer token. */
  readonly authorization: string | undefined;
  readonly requestId: string;
  /** Headers to pass on to another service, by lower-case name. */
  readonly forwarded: Readonly<Record<string, string>> | undefined;
  /** The error of its calls once it leaves or is late. A write that was sent goes on. */
  readonly cancelled: Error | undefined;
  /** When its own deadline passes, as a `performance.now()` timestamp; Infinity without one. */
  readonly deadlineAt: number;
  /** Its `Idempotency-Key`, without quotes. */
  readonly idempotencyKey: string | undefined;
  /** Set by the backend when a write was not done again, because it was done before. */
  isReplayed: boolean;
  /** Set by the backend when it knows who made the request. */
  identity: CallerIdentity | undefined;
  /** The calls to another service that were started for it or that it joined, in order. */
  readonly calls: ServiceCall[];
  readonly trace: CallerTrace | undefined;
  /** Calls back if the caller leaves or its deadline passes before the request ends. */
  whenCancelled(end: () => void): void;
  /** Takes over an amount that was taken from a limit, until the request ends. */
  hold(limit: { release(key: Caller['key'], amount?: number): void }, amount: number): void;
  /** Holds what it has of limits until this work has ended, too, which goes on after the request. */
  holdUntil(work: Promise<unknown>): void;
}

/** Identifies a write of a caller, so that a repetition is not done again. */
export interface WriteKey {
  /** A hash of the caller's `Idempotency-Key` and the response path: 43 characters, per API key. */
  readonly id: string;
  /** A hash of the operation, its parameters and forwarded headers, which must be the same in each repetition. */
  readonly fingerprint: string;
}

/** The trace of a request. */
export interface CallerTrace {
  startCall(request: RestRequest, baseUrl: URL): CallSpan;
  /** Starts the span of a query such as `SELECT pets`. The result ends it, with the type of an error. */
  startQuery(query: string, databaseUrl: string): ((errorType?: string) => void) | undefined;
}

/** The span of a call, with the W3C Trace Context headers to send. */
export interface CallSpan {
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Ends the span with the HTTP status or the kind of failure. */
  end(outcome: number | string, call: Pick<ServiceCall, 'status' | 'retries'>): void;
}

/** A call of a backend to another service. */
export interface ServiceCall {
  readonly operation: string;
  /** The caller that it was started for; others have joined it. */
  readonly caller: Caller;
  /** The HTTP status, or the kind of failure; undefined while it is in flight. */
  readonly outcome: number | string | undefined;
  /** As a `performance.now()` timestamp. */
  readonly startedAt: number;
  /** Its duration in milliseconds, once it has ended. */
  readonly ms: number;
  /** The status of the complete response, or null, and the size of its body. */
  readonly status: number | null;
  readonly bytes: number;
  /** How often the call has been sent again. */
  readonly retries: number;
  /** Called with the value or the error of the call when it ends, even if no caller waits. */
  onEnd: ((result: unknown) => void) | undefined;
  /**
   * Rejects what a caller waits for. The call ends if nobody waits, unless it is a write that was sent:
   * a client that left is not missed, and one whose deadline has passed gets a timeout.
   */
  cancel(caller: Caller): void;
}

/** An operation of the contract: where its request goes. */
export interface Operation {
  /** A GET reads, a POST writes. */
  readonly method: 'GET' | 'POST';
  /** Below the base address of the service; a name in braces stands for a parameter. */
  readonly path: string;
  /** The messages of the quickstart have a base address of their own. */
  readonly service: 'pets' | 'messages';
  /** The GraphQL field that makes the call, as a schema coordinate. */
  readonly field: string;
  /** When a deprecated operation is removed, and the path of its successor. */
  readonly removal?: { readonly date: string; readonly successor: string };
  /** The HTTP status of a success, if the contract has it. */
  readonly status?: 200 | 201;
}

/** A request to the REST service. */
export interface RestRequest extends Pick<Operation, 'method'> {
  /** The operation id of the contract, or the method and path of another request, for the metrics. */
  readonly operation: string;
  /** Below the base URL, with its query string. */
  readonly path: string;
  /** The path in the contract, with the names of parameters in braces. */
  readonly template?: string;
  /** The JSON text of the body. */
  readonly body?: string | undefined;
  /** The `Idempotency-Key` of a write, which may then be sent again. */
  readonly idempotencyKey?: string | undefined;
  /** Whether a request before this one may have sent the same key. */
  readonly mayBeRepeated?: boolean;
}

/** The id of an operation, which is its method of `PetStore`. */
export type OperationId = Exclude<keyof PetStore, symbol | 'checkReady' | 'send' | 'isBuiltin'>;

/** The method of any operation. */
export type Method = (caller: Caller, value: unknown, write?: WriteKey) => Promise<unknown>;

/** The operations of the contract ("Endpoints"). Clients, routes and joined reads follow it. */
export const operations: Readonly<Record<OperationId, Operation>> = {
  listPets: {
    method: 'GET',
    path: '/pets',
    service: 'pets',
    field: 'Query.pets',
    status: 200,
  },
  createPet: {
    method: 'POST',
    path: '/pets',
    service: 'pets',
    field: 'Mutation.addPet',
    status: 201,
  },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    service: 'pets',
    field: 'Query.pet',
    removal: { date: getPetRemoval, successor: '/pets' },
    status: 200,
  },
  listOrders: { method: 'GET', path: '/store/orders', service: 'pets', field: 'Query.orders' },
  sendMessage: {
    method: 'POST',
    path: '/messages',
    service: 'messages',
    field: 'Mutation.sendMessage',
  },
};

/** The query of `listPets`. Without a limit, the service's default of 20 applies. */
export interface ListPetsQuery {
  readonly limit?: number | undefined;
  readonly status?: PetStatus | undefined;
}

/** Returns the query string of `listPets`. The values need no escaping. */
export function searchOf({ limit, status }: ListPetsQuery): string {
  const parameters = [];
  if (limit !== undefined) parameters.push(`limit=${limit}`);
  if (status !== undefined) parameters.push(`status=${status}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

/**
 * The REST contract as an interface, with one method per operation. Every method rejects with
 * `ErrorResponse` for an error status, `BackendTimeoutError`, `BackendUnavailableError` or
 * `InvalidResponseError`; a wrong or revoked key is an `ErrorResponse` with status 401.
 *
 * A write with a key is done once per API key: its repetition waits for the one in flight, resolves to
 * what that one did, or rejects as it did if its outcome is unknown. After `NOT_DONE`, it is a new attempt.
 * With other parameters, it rejects with `IdempotencyKeyReusedError`.
 */
export interface PetStore<By extends Caller = Caller> extends AsyncDisposable {
  /** Whether it serves the operations itself, without calls to another service. */
  readonly isBuiltin?: true;
  /** `GET /pets`: at most `limit` pets, only of `status` if given. */
  listPets(caller: By, query: ListPetsQuery): Promise<Pets>;
  /** `POST /pets`: resolves after the pet is stored durably. */
  createPet(caller: By, pet: NewPet, write?: WriteKey): Promise<Pet>;
  /** `GET /pets/{petId}`, deprecated; `ErrorResponse` 404 for an unknown pet. */
  getPet(caller: By, petId: Int64): Promise<Pet>;
  /** `GET /store/orders`: JSON of unpublished shape. */
  listOrders(caller: By): Promise<JsonText>;
  /** `POST /messages` of the quickstart. */
  sendMessage(caller: By, message: string, write?: WriteKey): Promise<Message>;
  /** Calls another path of the REST service; a backend without one rejects. */
  send(caller: By, request: RestRequest, write?: WriteKey): Promise<JsonText>;
  /** Resolves if the backend can take calls; otherwise rejects with the reason. */
  checkReady(): Promise<void>;
}
