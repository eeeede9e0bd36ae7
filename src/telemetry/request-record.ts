import { randomUUID } from 'node:crypto';
import { type ClientName, readClientName } from './client-name.ts';
import type { CallRecord } from './log.ts';
import type { Telemetry } from './telemetry.ts';
import type { RequestTrace } from './trace.ts';

/** The HTTP method and path of a request; placeholders for callers in this process. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
}

/** Maximum length of a path in the log, in characters. */
const maxPathLength = 256;

/** Maximum length of an origin in the log, in characters. A host name has up to 253. */
const maxOriginLength = 270;

/** Opens the record of a request with the id and trace headers that its client sent. */
export function openRecord(
  telemetry: Telemetry,
  line: RequestLine,
  requestId: string | undefined,
  traceparent: string | undefined,
  tracestate?: string,
): RequestRecord {
  const trace = telemetry.tracing.startRequest(traceparent, tracestate);
  return new RequestRecord(telemetry, line, readRequestId(requestId), trace);
}

/**
 * Collects the data of one request. Disposing it writes the log line, the metrics and the trace.
 */
export class RequestRecord implements Disposable {
  readonly requestId: string;
  /** The HTTP status of the response. Set it before disposing. */
  status = 500;
  /** The GraphQL operation; undefined for other requests and until it is known. */
  operation: { readonly type: string; readonly name: string | undefined } | undefined;
  /** Whether a field needed the caller's key. The errors then show whether it was accepted. */
  usedKey = false;
  /** Whether the backend has accepted the caller's key. */
  keyAccepted = false;
  /** The codes of the errors in the result, one per error. */
  codes: readonly string[] = [];
  /** The deprecated fields of the operation. They are counted if a field needed the key. */
  deprecatedFields: readonly string[] = [];
  #refusedOrigin: string | undefined;
  #client: ClientName | undefined;
  #clientLibrary: ClientName | undefined;
  readonly #telemetry: Telemetry;
  readonly #line: RequestLine;
  readonly #trace: RequestTrace | undefined;
  readonly #calls: CallRecord[] = [];
  readonly #start = performance.now();
  #firstPartMs: number | undefined;

  constructor(
    telemetry: Telemetry,
    line: RequestLine,
    requestId: string,
    trace: RequestTrace | undefined,
  ) {
    this.#telemetry = telemetry;
    this.#line = line;
    this.requestId = requestId;
    this.#trace = trace;
  }

  /** Records the operation. Its name is truncated, because clients choose it. */
  setOperation(type: string, name: string | undefined): void {
    this.operation = { type, name: name?.slice(0, 64) };
  }

  /** Records the application's name from the headers of its request. */
  setClient(name: string | undefined, version: string | undefined): void {
    this.#client = readClientName(name, version);
  }

  /** Records the name of the application's GraphQL library from an unchecked value. */
  setClientLibrary(library: unknown): void {
    if (typeof library !== 'object' || library === null) return;
    const { name, version } = library as { readonly name?: unknown; readonly version?: unknown };
    this.#clientLibrary = readClientName(name, version);
  }

  /** Records the origin of a preflight request that is refused. */
  setRefusedOrigin(origin: string): void {
    this.#refusedOrigin = origin.slice(0, maxOriginLength);
  }

  /** Whether its operation is a mutation, whose errors report what became of the write. */
  get isMutation(): boolean {
    return this.operation?.type === 'mutation';
  }

  /** Records that the first part of a response in parts has been produced. */
  onFirstPart(): void {
    this.#firstPartMs = rounded(performance.now() - this.#start);
  }

  /** Observes one call to the backend; see `Call.observe`. */
  readonly observe = (operation: string) => {
    const trace = this.#trace?.startCall(operation);
    return {
      traceHeaders: trace?.headers,
      end: (status: number | string, ms: number) => {
        this.#calls.push({ operation, status, ms: rounded(ms) });
        trace?.end(status, typeof status === 'string' || status >= 500);
      },
    };
  };

  [Symbol.dispose](): void {
    const { requestId, operation, codes, status } = this;
    const { method, path } = this.#line;
    const { log, metrics } = this.#telemetry;
    const traceId = this.#trace?.traceId;
    const ms = rounded(performance.now() - this.#start);
    if (operation !== undefined || codes.length > 0) {
      metrics.request(operation?.name, codes, ms / 1000, { requestId, traceId }, this.usedKey);
    }
    const client = this.#client;
    const clientLibrary = this.#clientLibrary;
    const firstPartMs = this.#firstPartMs;
    if (firstPartMs !== undefined) metrics.firstPart(operation?.name, firstPartMs / 1000);
    // Must follow metrics.request, which may give the operation a label.
    for (const field of this.usedKey ? this.deprecatedFields : []) {
      const clientName = (client ?? clientLibrary)?.name;
      metrics.deprecatedUse(field, operation?.name, clientName, this.keyAccepted);
    }
    const name = operation
      ? `${operation.type} ${operation.name ?? ''}`.trim()
      : `${method} ${path.slice(0, maxPathLength)}`;
    this.#trace?.end({ name, method, status, requestId, codes, operation, firstPartMs });
    log.request({
      requestId,
      traceId,
      operation: name,
      client,
      clientLibrary,
      refusedOrigin: this.#refusedOrigin,
      status,
      codes,
      ms,
      firstPartMs,
      calls: this.#calls,
    });
  }
}

/** Returns the client's request id if it is well-formed, otherwise a new one. */
function readRequestId(given: string | undefined): string {
  return given && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID();
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
