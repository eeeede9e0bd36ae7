import type { Field } from './fields.ts';
import type { Int64 } from './int64.ts';
import type { JsonText } from './json.ts';
import {
  getPetRemoval,
  type Message,
  messageFields,
  type NewPet,
  type Pet,
  type PetStatus,
  type Pets,
  petFields,
} from './records.ts';

/** The request that a call is made for. */
export interface Call {
  readonly apiKey: string;
  /** The caller's unchanged `Authorization` header. */
  readonly authorization: string;
  /** A hash of the credential, by which callers share limits fairly. */
  readonly key: number;
  readonly requestId: string;
  /** Headers to pass on to another service, by lower-case name. */
  readonly forwarded?: Readonly<Record<string, string>> | undefined;
  /** Aborted when the caller disconnects. Cancels reads; a write that was sent is not cancelled. */
  readonly signal?: AbortSignal;
  /**
   * When the caller began to wait, as a `performance.now()` timestamp, if that was before this
   * call. The deadline of the call counts from then.
   */
  readonly waitingSince?: number;
  /** Observes the calls to another service that are made for this one. */
  readonly observer?: CallObserver | undefined;
  /** Disposed when the response to the request is complete, and data is no longer needed for it. */
  readonly scope?: DisposableStack | undefined;
}

/** Who made a request, for the log and traces: `credential` is a keyed hash of the API key. */
export type CallerIdentity = Readonly<Partial<Record<'account' | 'keyId' | 'credential', string>>>;

/** Observes the calls of a backend. */
export interface CallObserver {
  /** Set by the backend when it knows who made the request. */
  caller: CallerIdentity | undefined;
  /** Called at the start of each call to another service, before the method of the backend returns. */
  observe(request: RestRequest, baseUrl: URL | undefined): CallObservation;
  /** Called at the start of a query such as `SELECT pets`; the result, if there is one, at its end. */
  observeQuery(query: string, databaseUrl: string): ((errorType?: string) => void) | undefined;
  /** The call that started last. */
  readonly lastCall: CallObservation | undefined;
  /** Called when a read joins a call in flight instead of starting one. */
  join?(call: CallObservation): void;
}

/** Observes one call of a backend to another service. */
export interface CallObservation {
  /** The W3C Trace Context headers to send, if the request is traced. */
  readonly traceHeaders: Readonly<Record<string, string>> | undefined;
  /** How often the call has been sent again. */
  retries: number;
  /** The status of the complete response, or null, and the size of its body. */
  status: number | null;
  bytes: number;
  /**
   * Called once when the call ends, with the HTTP status or the kind of failure, and the duration.
   */
  end(outcome: number | string, ms: number): void;
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
  readonly removal?: { readonly date: Date; readonly successor: string };
  /** The HTTP status of a success, if the contract has it. */
  readonly status?: 200 | 201;
  /** The fields of the record in a success, or of each one in a list, if the contract has them. */
  readonly record?: Readonly<Record<string, Field>>;
  readonly list?: Readonly<Record<string, Field>>;
}

/** A request to the REST service. */
export interface RestRequest {
  /** The operation id of the contract, or the method and path of another request, for the metrics. */
  readonly operation: string;
  /** A GET reads, a POST writes. */
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with its query string. */
  readonly path: string;
  /** The path in the contract, with the names of parameters in braces. */
  readonly template?: string;
  /** The JSON text of the body. */
  readonly body?: string | undefined;
}

/** The id of an operation, which is its method of `PetStore`. */
export type OperationId = Exclude<keyof PetStore, symbol | 'checkReady' | 'send'>;

/** The method of any operation. */
export type Method = (call: Call, value: unknown) => Promise<unknown>;

/** The operations of the contract ("Endpoints"). Clients, routes and joined reads follow it. */
export const operations: Readonly<Record<OperationId, Operation>> = {
  listPets: {
    method: 'GET',
    path: '/pets',
    service: 'pets',
    field: 'Query.pets',
    status: 200,
    list: petFields,
  },
  createPet: {
    method: 'POST',
    path: '/pets',
    service: 'pets',
    field: 'Mutation.addPet',
    status: 201,
    record: petFields,
  },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    service: 'pets',
    field: 'Query.pet',
    removal: { date: getPetRemoval, successor: '/pets' },
    status: 200,
    record: petFields,
  },
  listOrders: { method: 'GET', path: '/store/orders', service: 'pets', field: 'Query.orders' },
  sendMessage: {
    method: 'POST',
    path: '/messages',
    service: 'messages',
    field: 'Mutation.sendMessage',
    record: messageFields,
  },
};

/** The query of `listPets`. Without a limit, the service's default of 20 applies. */
export interface ListPetsQuery {
  readonly limit?: number | undefined;
  readonly status?: PetStatus | undefined;
}

/**
 * The REST contract as an interface, with one method per operation. Every method rejects with
 * `ErrorResponse` for an error status, `BackendTimeoutError`, `BackendUnavailableError` or
 * `InvalidResponseError`; a wrong or revoked key is an `ErrorResponse` with status 401.
 */
export interface PetStore extends AsyncDisposable {
  /** `GET /pets`: at most `limit` animals, only of `status` if given. */
  listPets(call: Call, query: ListPetsQuery): Promise<Pets>;
  /** `POST /pets`: resolves after the animal is stored durably. */
  createPet(call: Call, pet: NewPet): Promise<Pet>;
  /** `GET /pets/{petId}`, deprecated; `ErrorResponse` 404 for an unknown animal. */
  getPet(call: Call, petId: Int64): Promise<Pet>;
  /** `GET /store/orders`: JSON of unpublished shape. */
  listOrders(call: Call): Promise<JsonText>;
  /** `POST /messages` of the quickstart. */
  sendMessage(call: Call, message: string): Promise<Message>;
  /** Calls another path of the REST service; a backend without one rejects. */
  send(call: Call, request: RestRequest): Promise<JsonText>;
  /** Resolves if the backend can take calls; otherwise rejects with the reason. */
  checkReady(): Promise<void>;
}
