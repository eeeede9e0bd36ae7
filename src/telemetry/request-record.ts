import { randomUUID } from 'node:crypto';
import { type ClientName, readClientName } from './client-name.ts';
import type { CallRecord } from './log.ts';
import type { Telemetry } from './telemetry.ts';
import type { RequestTrace } from './trace.ts';

/** How a request ended. */
export interface RequestEnd {
  /** The HTTP method and path; for an operation of a caller in this process, what stands for them. */
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** The most of a path that the log repeats: it is the client's. */
const maxPathLength = 256;

/** The most of an origin that the log repeats: a host name has 253 characters. */
const maxOriginLength = 270;

/** Opens the record of a request, with the id and the headers of its trace that its client sent. */
export function openRecord(
  telemetry: Telemetry,
  requestId: string | undefined,
  traceparent: string | undefined,
  tracestate?: string,
): RequestRecord {
  const trace = telemetry.tracing.startRequest(traceparent, tracestate);
  return new RequestRecord(telemetry, readRequestId(requestId), trace);
}

/** What is recorded of one request while it is answered, for the log, the metrics and the trace. */
export class RequestRecord {
  readonly requestId: string;
  /** The GraphQL operation; undefined for any other request, or while it is not known. */
  operation: { readonly type: string; readonly name: string | undefined } | undefined;
  /** Whether a field asked for the caller's key; without an error in the result, it was a good one. */
  usedKey = false;
  /** Whether the backend has answered a call with the caller's key. */
  keyAccepted = false;
  /** The codes of the errors in the result, each once for each error. */
  codes: readonly string[] = [];
  /** The deprecated fields that the operation uses. */
  deprecatedFields: readonly string[] = [];
  #refusedOrigin: string | undefined;
  #client: ClientName | undefined;
  #clientLibrary: ClientName | undefined;
  readonly #telemetry: Telemetry;
  readonly #trace: RequestTrace;
  readonly #calls: CallRecord[] = [];
  readonly #start = performance.now();

  constructor(telemetry: Telemetry, requestId: string, trace: RequestTrace) {
    this.#telemetry = telemetry;
    this.requestId = requestId;
    this.#trace = trace;
  }

  /** A name is the client's: what is longer than a name should be is cut off. */
  setOperation(type: string, name: string | undefined): void {
    this.operation = { type, name: name?.slice(0, 64) };
  }

  /** Records the application's name from the headers of its request. */
  setClient(name: string | undefined, version: string | undefined): void {
    this.#client = readClientName(name, version);
  }

  /** Records the name of the application's GraphQL library from a value of any shape. */
  setClientLibrary(library: unknown): void {
    if (typeof library !== 'object' || library === null) return;
    const { name, version } = library as { readonly name?: unknown; readonly version?: unknown };
    this.#clientLibrary = readClientName(name, version);
  }

  /** Records the origin of a preflight request that is refused. */
  setRefusedOrigin(origin: string): void {
    this.#refusedOrigin = origin.slice(0, maxOriginLength);
  }

  /** Records that a field asked for the caller's key. */
  onKey(): void {
    this.usedKey = true;
  }

  /** Records that the backend has answered a call with the caller's key. */
  onKeyAccepted(): void {
    this.keyAccepted = true;
  }

  /** Follows one call to the backend: see `Call.observe`. */
  readonly observe = (operation: string) => {
    const trace = this.#trace.startCall(operation);
    return {
      traceHeaders: trace.headers,
      end: (status: number | string, ms: number) => {
        this.#calls.push({ operation, status, ms: rounded(ms) });
        trace.end(status, typeof status === 'string' || status >= 500);
      },
    };
  };

  /** Writes to the log, the metrics and the trace how the request ended, with ids that join them. */
  close({ method, path, status }: RequestEnd): void {
    const { requestId, operation, codes } = this;
    const { log, metrics } = this.#telemetry;
    const { traceId } = this.#trace;
    const ms = rounded(performance.now() - this.#start);
    if (operation !== undefined || codes.length > 0) {
      metrics.request(operation?.name, codes, ms / 1000, { requestId, traceId }, this.usedKey);
    }
    const client = this.#client;
    const clientLibrary = this.#clientLibrary;
    // After the request, which may have earned its operation's name a label.
    for (const field of this.deprecatedFields) {
      const clientName = (client ?? clientLibrary)?.name;
      metrics.deprecatedUse(field, operation?.name, clientName, this.keyAccepted);
    }
    const name = operation
      ? `${operation.type} ${operation.name ?? ''}`.trim()
      : `${method} ${path.slice(0, maxPathLength)}`;
    this.#trace.end({ name, method, status, requestId, codes, operation });
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
      calls: this.#calls,
    });
  }
}

/** A request's own id if it is short and plain enough for logs and headers, else a new one. */
function readRequestId(given: string | undefined): string {
  return given && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID();
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
