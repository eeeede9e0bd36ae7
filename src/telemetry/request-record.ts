import { randomUUID } from 'node:crypto';
import type { Telemetry } from './telemetry.ts';
import type { EndedRequest, RequestHead, RequestTrace, TracedCall } from './trace.ts';

/** Maximum length of a path in the log, in characters. */
const maxPathLength = 256;

/** Maximum length of an origin in the log, in characters. A host name has up to 253. */
const maxOriginLength = 270;

/** The name by which a client identifies itself, unverified; only for logs and metrics. */
type ClientName = ReturnType<typeof readClientName>;

/**
 * Collects the data of one request, with the id, trace and client name in its headers. Disposing it
 * writes the log line, the metrics and the trace.
 */
export class RequestRecord implements Disposable, EndedRequest {
  readonly requestId: string;
  /** The HTTP status of the response. Set it before disposing. */
  status = 500;
  /** The GraphQL operation; undefined for other requests and until it is known. */
  operation: EndedRequest['operation'];
  /** The operation of the contract, if the request is for `/v1` or `/quickstart`. */
  v1Operation: string | undefined;
  /** The template of the path, such as `/v1/pets/{petId}`, if it is known. */
  route: string | undefined;
  /** Whether a field needed the caller's key. The errors then show whether it was accepted. */
  usedKey = false;
  /** Whether the backend has accepted the caller's key. */
  keyAccepted = false;
  /** The codes of the errors in the result, one per error. */
  codes: readonly string[] = [];
  /** The deprecated fields of the operation. They are counted if a field needed the key. */
  deprecatedFields: readonly string[] = [];
  /** Who made the request, if the backend has identified the caller. */
  caller: EndedRequest['caller'];
  /** The origin of a preflight request that was refused. */
  refusedOrigin: string | undefined;
  /** The time to the first part of a response in parts. */
  firstPartMs: number | undefined;
  readonly #client: ClientName;
  #clientLibrary: ClientName;
  readonly #telemetry: Telemetry;
  readonly #head: RequestHead;
  readonly #trace: RequestTrace | undefined;
  /** The calls to the REST service, with the HTTP status or the kind of failure. */
  readonly #calls: { operation: string; status: number | string; ms: number }[] = [];
  /** The call to the backend that started last. */
  lastCall: ReturnType<RequestRecord['observe']> | undefined;
  readonly #start = performance.now();

  constructor(telemetry: Telemetry, head: RequestHead) {
    this.#telemetry = telemetry;
    this.#head = head;
    const { headers } = head;
    const { 'x-request-id': requestId } = headers;
    const isValid = requestId !== undefined && /^[\w.:-]{1,64}$/.test(requestId);
    this.requestId = isValid ? requestId : randomUUID();
    this.#trace = telemetry.tracing.startRequest(head);
    this.#client = readClientName(
      headers['graphql-client-name'] ?? headers['apollographql-client-name'],
      headers['graphql-client-version'] ?? headers['apollographql-client-version'],
    );
  }

  /** Records the operation. Its name is truncated, because clients choose it. */
  setOperation(type: string, name: string | undefined): void {
    this.operation = { type, name: name?.slice(0, 64) };
  }

  /** Records the name of the application's GraphQL library from an unchecked value. */
  setClientLibrary(library: unknown): void {
    if (typeof library !== 'object' || library === null) return;
    const { name, version } = library as { readonly name?: unknown; readonly version?: unknown };
    this.#clientLibrary = readClientName(name, version);
  }

  /** Whether its operation is a mutation, whose errors report what became of the write. */
  get isMutation(): boolean {
    return this.operation?.type === 'mutation';
  }

  /** Records that the first part of a response in parts has been produced. */
  onFirstPart(): void {
    this.firstPartMs = rounded(performance.now() - this.#start);
  }

  /** Observes one call to the backend; see `Call.observer`. */
  observe(request: TracedCall, baseUrl: URL | undefined) {
    const { operation } = request;
    const trace = this.#trace?.startCall(request, baseUrl);
    const call = {
      traceHeaders: trace?.headers,
      retries: 0,
      status: null as number | null,
      bytes: 0,
      end: (outcome: number | string, ms: number) => {
        this.#calls.push({ operation, status: outcome, ms: rounded(ms) });
        trace?.end(outcome, call);
      },
    };
    this.lastCall = call;
    return call;
  }

  /** Observes one query of the backend; see `CallObserver`. */
  observeQuery(query: string, databaseUrl: string) {
    return this.#trace?.startQuery(query, databaseUrl);
  }

  [Symbol.dispose](): void {
    const { operation, status, codes, v1Operation } = this;
    const { log, metrics } = this.#telemetry;
    const { method, path } = this.#head;
    const ms = rounded(performance.now() - this.#start);
    if (operation !== undefined || codes.length > 0) this.#measure(ms / 1000);
    if (v1Operation !== undefined) {
      metrics.v1Requests.observe({ operation: v1Operation, status }, ms / 1000);
    }
    this.#trace?.end(this);
    log.request({
      requestId: this.requestId,
      traceId: this.#trace?.traceId,
      operation: operation
        ? `${operation.type} ${operation.name ?? ''}`.trim()
        : `${method} ${path.slice(0, maxPathLength)}`,
      client: this.#client,
      clientLibrary: this.#clientLibrary,
      refusedOrigin: this.refusedOrigin?.slice(0, maxOriginLength),
      status,
      codes: [...new Set(codes)],
      ms,
      firstPartMs: this.firstPartMs,
      calls: this.#calls,
      ...this.caller,
    });
  }

  /** Counts and times a GraphQL request. Only clients with an accepted key get their own labels. */
  #measure(seconds: number): void {
    const { requestId, codes, firstPartMs } = this;
    const { metrics } = this.#telemetry;
    const isAccepted = this.usedKey && codes.every(impliesAcceptedKey);
    const operation = metrics.operationLabel(this.operation?.name, isAccepted);
    const outcome = codes.length === 0 ? 'success' : 'error';
    metrics.requests.observe({ operation, outcome }, seconds);
    if (firstPartMs !== undefined) metrics.firstParts.observe({ operation }, firstPartMs / 1000);
    for (const code of codes) {
      const exemplarLabels = { request_id: requestId, trace_id: this.#trace?.traceId ?? '' };
      metrics.errors.inc({ labels: { code }, value: 1, exemplarLabels });
    }
    if (!this.usedKey || this.deprecatedFields.length === 0) return;
    const clientName = (this.#client ?? this.#clientLibrary)?.name;
    const client = metrics.clientLabel(clientName, this.keyAccepted);
    for (const field of this.deprecatedFields) {
      metrics.deprecatedFieldUses.inc({ field, operation, client });
    }
  }
}

/** Whether a backend returns this error only after it has accepted the key. */
function impliesAcceptedKey(code: string): boolean {
  return code === 'NOT_FOUND' || code === 'CONFLICT' || code === 'BAD_USER_INPUT';
}

/** Returns the client's name if it is short and plain. A version without a name is ignored. */
function readClientName(name: unknown, version: unknown) {
  if (!isPlain(name)) return undefined;
  return { name, version: isPlain(version) ? version : undefined };
}

/** Whether a value is text such as `@apollo/client`, `My App (iOS)` and `1.4.2+7`. */
function isPlain(value: unknown): value is string {
  return typeof value === 'string' && /^[\w @.,:/()+-]{1,64}$/.test(value);
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
