import type { Caller, WriteKey } from './caller.ts';
import type { JsonText } from './json.ts';
import type { Operations, ResultOf, ValueOf } from './operation.ts';
import type { RestRequest } from './request.ts';

/** The call of any operation. As a method, it may know more of its caller than others do. */
export type Call<By extends Caller = Caller, Value = unknown, Result = unknown> = {
  call(caller: By, value: Value, write?: WriteKey): Promise<Result>;
}['call'];

/** What carries out the operations of any contract. */
export interface Backend<By extends Caller = Caller> extends AsyncDisposable {
  /** Whether it serves the operations itself, without calls to another service. */
  readonly isBuiltin?: true;
  /** Calls another path of the REST service; a backend without one rejects. */
  send(caller: By, request: RestRequest, write?: WriteKey): Promise<JsonText>;
  /** Resolves if the backend can take calls; otherwise rejects with the reason. */
  checkReady(): Promise<void>;
}

/**
 * A contract as an interface, with one method per operation. Every method rejects with `ErrorResponse`
 * for an error status, `BackendTimeoutError`, `BackendUnavailableError` or `InvalidResponseError`; a wrong
 * or revoked key is an `ErrorResponse` with status 401.
 *
 * A write with a key is done once per API key: its repetition waits for the one in flight, resolves to
 * what that one did, or rejects as it did if its outcome is unknown. After `NOT_DONE`, it is a new attempt.
 * With other parameters, it rejects with `IdempotencyKeyReusedError`.
 */
export type BackendOf<All extends Operations, By extends Caller = Caller> = Backend<By> & {
  readonly [Id in keyof All]: Call<By, ValueOf<All[Id]>, ResultOf<All[Id]>>;
};

/** Returns the method of an operation. */
export function callOf<By extends Caller>(backend: Backend<By>, id: string): Call<By> {
  return (backend as unknown as Readonly<Record<string, Call<By>>>)[id] as Call<By>;
}
