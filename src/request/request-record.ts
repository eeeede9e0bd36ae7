import { randomUUID } from 'node:crypto';
import { BackendTimeoutError, CancelledError } from '../contract/error.ts';
import type { Caller, CallerIdentity, ServiceCall } from '../contract/pet-store.ts';
import { RequestBody } from '../http/body.ts';
import { internalError } from '../http/error.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from '../http/http-message.ts';
import type { Releasable } from '../limits/limit.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { EndedRequest, RequestTrace } from '../telemetry/trace.ts';
import { type ClientName, readClientHeaders } from './client-name.ts';
import type { OperationLabel, RequestEnvironment, RequestHead } from './request-environment.ts';
import { measureRequest, reportCalls, rounded, timeWithoutCalls } from './request-metrics.ts';

const deadlinePassed = "The pet store did not respond before the request's deadline.";

/** The most characters of each in the log. A host name has up to 253. */
const maxLength = { path: 256, origin: 270 };

/**
 * One request, from its headers to its response: what it has, what it holds, the calls that it makes,
 * and what is reported of it. `end` releases what it holds, and writes the log line, the metrics and
 * the trace, once.
 */
export class RequestRecord extends RequestBody implements HttpRequest, Caller, EndedRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: RequestHeaders;
  readonly repeated: readonly string[] | undefined;
  readonly mayStream: boolean;
  readonly authorization: string | undefined;
  readonly requestId: string;
  readonly trace: RequestTrace | undefined;
  forwarded: Caller['forwarded'];
  idempotencyKey: string | undefined;
  isReplayed = false;
  readonly calls: ServiceCall[] = [];
  cancelled: Error | undefined;
  deadlineAt = Number.POSITIVE_INFINITY;
  /** Whether nobody waits for its response. */
  hasLeft = false;
  /** Called when its client has left. */
  onLeave: (() => void) | undefined;

  /** The HTTP status of the response. */
  status = 500;
  /** The GraphQL operation; undefined for other requests and until it is known. */
  operation: OperationLabel | undefined;
  /** The operation of the contract, if the request is for `/v1` or `/quickstart`. */
  v1Operation: string | undefined;
  /** The template of the path, such as `/v1/pets/{petId}`, if it is known. */
  route: string | undefined;
  /** Whether a field needed the caller's key. The errors then show whether it was accepted. */
  usedKey = false;
  /** The codes of the errors in the result, one per error. */
  codes: string[] = [];
  /** The deprecated fields of the operation. They are counted if a field needed the key. */
  deprecatedFields: readonly string[] = [];
  /** Who made the request, if the backend has identified the caller. */
  identity: CallerIdentity | undefined;
  /** The origin of a preflight request that was refused. */
  refusedOrigin: string | undefined;
  /** The time to the first part of a response in parts. */
  firstPartMs: number | undefined;
  /** Where its document is from, if that is reported. */
  documentSource: 'manifest' | 'sent' | undefined;
  /** The application's GraphQL library, from the parameters. */
  clientLibrary: ClientName | undefined;
  #client: ClientName | undefined;
  readonly #telemetry: Telemetry;
  #followed: { readonly signal: AbortSignal } | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #whenCancelled: (() => void)[] | undefined;
  #held: Releasable[] = [];
  #amounts: number[] = [];
  #workGoingOn = 0;
  #isEnded = false;
  readonly #start = performance.now();

  constructor({ telemetry, keys, bodyBytes }: RequestEnvironment, head: RequestHead) {
    const { headers } = head;
    super(keys.find(headers.authorization), bodyBytes);
    this.#telemetry = telemetry;
    this.method = head.method;
    this.path = head.path;
    this.search = head.search ?? '';
    this.headers = headers;
    this.repeated = head.repeated;
    this.mayStream = head.method !== 'HEAD' && (head.mayStream ?? true);
    this.authorization = headers.authorization;
    this.key.requests++;
    const { 'x-request-id': requestId } = headers;
    const isValid = requestId !== undefined && /^[\w.:-]{1,64}$/.test(requestId);
    this.requestId = isValid ? requestId : randomUUID();
    const client = headers['graphql-client-name'] ?? headers['apollographql-client-name'];
    if (client !== undefined) this.#client = readClientHeaders(client, headers);
    const { tracing } = telemetry;
    const isTraced = tracing.isRecording || headers.traceparent !== undefined;
    this.trace = isTraced ? tracing.startRequest(head) : undefined;
  }

  /** Whether its operation is a mutation, whose errors report what became of the write. */
  get isMutation(): boolean {
    return this.operation?.type === 'mutation';
  }

  /** The name of the application that sent it, or else of its GraphQL library. */
  get clientName(): string | undefined {
    return (this.#client ?? this.clientLibrary)?.name;
  }

  /** Records that the first part of a response in parts has been produced. */
  onFirstPart(): void {
    this.firstPartMs = rounded(performance.now() - this.#start);
  }

  hold(limit: Releasable, amount: number): void {
    if (this.#isEnded) {
      limit.release(this.key, amount);
      return;
    }
    this.#held.push(limit);
    this.#amounts.push(amount);
  }

  holdUntil(work: Promise<unknown>): void {
    this.#workGoingOn++;
    const end = () => {
      this.#workGoingOn--;
      if (this.#isEnded) this.#releaseHeld();
    };
    work.then(end, end);
  }

  /** Ends its calls: its client has left, or its deadline has passed. Writes that were sent go on. */
  cancel(reason: 'client' | 'deadline' = 'client'): void {
    if (this.#isEnded) return;
    if (this.cancelled === undefined) {
      this.cancelled =
        reason === 'client'
          ? new CancelledError()
          : new BackendTimeoutError(deadlinePassed, { writeOutcome: 'NOT_DONE' });
      for (const call of this.calls) call.cancel(this);
      for (const end of this.#whenCancelled ?? []) end();
    }
    if (reason === 'client') this.#leave();
  }

  whenCancelled(end: () => void): void {
    this.#whenCancelled ??= [];
    this.#whenCancelled.push(end);
  }

  #leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.onLeave?.();
  }

  /** Cancels the request when this time has passed since its start, in milliseconds. */
  setDeadline(ms: number): void {
    this.deadlineAt = this.#start + ms;
    const leftMs = this.deadlineAt - performance.now();
    if (leftMs <= 0) this.cancel('deadline');
    else this.#deadline = setTimeout(() => this.cancel('deadline'), leftMs);
  }

  /** Cancels the request when a signal is aborted, which a Fetch request does only while it is in memory. */
  follow(caller: { readonly signal: AbortSignal }): void {
    this.#followed = caller;
    if (caller.signal.aborted) this.handleEvent();
    else caller.signal.addEventListener('abort', this);
  }

  /** Handles the `abort` event of the signal, which `AbortSignal.timeout` aborts, too. */
  handleEvent(): void {
    this.cancel(this.#followed?.signal.reason?.name === 'TimeoutError' ? 'deadline' : 'client');
    this.#leave();
  }

  /** Ends the request. Its status must be set. */
  end(): void {
    if (!this.#release()) return;
    const { operation, status, codes, v1Operation } = this;
    const { log, metrics } = this.#telemetry;
    const now = performance.now();
    const ms = rounded(now - this.#start);
    if (operation !== undefined || codes.length > 0) measureRequest(this, metrics, ms / 1000);
    // A client that reads slowly delays the later parts of a response.
    if (operation !== undefined && this.calls.length > 0 && this.firstPartMs === undefined) {
      metrics.overhead.observe(timeWithoutCalls(this.#start, now, this.calls) / 1000);
    }
    if (v1Operation !== undefined) {
      metrics.v1Requests.observe({ operation: v1Operation, status }, ms / 1000);
    }
    if (this.isReplayed) metrics.replays.inc();
    this.trace?.end(this);
    log.request({
      requestId: this.requestId,
      traceId: this.trace?.traceId,
      operation: operation?.title ?? `${this.method} ${this.path.slice(0, maxLength.path)}`,
      document: this.documentSource,
      client: this.#client,
      clientLibrary: this.clientLibrary,
      refusedOrigin: this.refusedOrigin?.slice(0, maxLength.origin),
      status,
      codes: codes.length > 1 ? [...new Set(codes)] : codes,
      ms,
      firstPartMs: this.firstPartMs,
      replayed: this.isReplayed || undefined,
      calls: reportCalls(this, now),
      ...this.identity,
    });
  }

  /** Ends a request whose body does not arrive. It is not reported. */
  fail(): void {
    this.cancel();
    // What still arrives is dropped.
    this.refuseBody(internalError());
    this.#release();
    this.onDiscarded?.();
  }

  /** Ends the request of a probe, which is not reported. */
  endUnreported(): void {
    this.#release();
  }

  /** Releases what it holds, once. Returns whether it had not ended. */
  #release(): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#followed?.signal.removeEventListener('abort', this);
    clearTimeout(this.#deadline);
    this.key.requests--;
    this.releaseBody();
    this.#releaseHeld();
    return true;
  }

  #releaseHeld(): void {
    if (this.#workGoingOn > 0) return;
    for (let index = this.#held.length - 1; index >= 0; index--) {
      this.#held.pop()?.release(this.key, this.#amounts[index]);
    }
  }
}

/** Serves requests: each has a record from its headers on, and is handled when its body has arrived. */
export interface RequestServer {
  /** What its records are created with. */
  readonly environment: RequestEnvironment;
  /** Ends the record, or lets the body of a response in parts end it. Never rejects. */
  handle(record: RequestRecord): Promise<HttpResponse>;
}
