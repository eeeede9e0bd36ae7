import type { RestRequest } from './request.ts';

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
  /** Starts the span of a query, named by its verb and table. The result ends it, with the type of an error. */
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
