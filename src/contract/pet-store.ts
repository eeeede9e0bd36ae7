import type { Int64, Message, NewPet, Pet, PetStatus, Pets } from './records.ts';

/** What every operation needs to know of the request that it serves. */
export interface Call {
  readonly apiKey: string;
  /** The caller's `Authorization` header, verbatim. */
  readonly authorization: string;
  readonly requestId: string;
  /** Aborted when the caller is gone. Ends reads; a write that was sent runs to its end. */
  readonly signal?: AbortSignal;
  /**
   * When the caller began to wait, where that was before this call, on the clock of
   * `performance.now()`. The deadline of the call counts from there.
   */
  readonly waitsSince?: number;
  /** Called by a backend that calls another service, at the start of each call. */
  readonly observe?: ((operation: string) => CallObservation) | undefined;
  /** Calls what it is given once the request is answered, and so no longer holds what was read for it. */
  readonly whenAnswered?: ((giveBack: () => void) => void) | undefined;
}

/** Follows one call of a backend to another service. */
export interface CallObservation {
  /** The headers of W3C Trace Context to send along, where the request is traced. */
  readonly traceHeaders: Readonly<Record<string, string>> | undefined;
  /** Told once, when the call is over: the HTTP status or the kind of failure, and the time it took. */
  end(outcome: number | string, ms: number): void;
}

/** The query of the list operation. Without a limit the service's default of 20 applies. */
export interface ListPetsQuery {
  readonly limit?: number;
  readonly status?: PetStatus;
}

/**
 * The REST contract as an interface: one method an operation. Every method rejects with
 * `ErrorResponse` for an error status, `BackendTimeoutError`, `BackendUnavailableError` or
 * `InvalidResponseError`; a wrong or revoked key is an `ErrorResponse` with status 401.
 */
export interface PetStore extends AsyncDisposable {
  /** `GET /pets`: at most `limit` animals, of one status if asked for. */
  listPets(call: Call, query: ListPetsQuery): Promise<Pets>;
  /** `POST /pets`: stores the animal durably before it resolves. */
  createPet(call: Call, pet: NewPet): Promise<Pet>;
  /** `GET /pets/{petId}`, deprecated; `ErrorResponse` 404 for an unknown animal. */
  getPet(call: Call, petId: Int64): Promise<Pet>;
  /** `GET /store/orders`: JSON of unpublished shape, as `parseJson` reads it. */
  listOrders(call: Call): Promise<unknown>;
  /** `POST /messages` of the quickstart. */
  sendMessage(call: Call, message: string): Promise<Message>;
  /** Resolves when calls can be expected to be answered; rejects with the reason why not. */
  checkReady(): Promise<void>;
}
