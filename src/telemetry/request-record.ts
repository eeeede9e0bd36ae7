import type { RequestTrace } from './trace.ts';

/** One call to the REST service, as the log tells it. */
export interface CallRecord {
  readonly operation: string;
  /** The HTTP status, or the kind of failure. */
  readonly status: number | string;
  readonly ms: number;
}

/** What is noted of one request while it is answered, for the log, the metrics and the trace. */
export class RequestRecord {
  readonly requestId: string;
  readonly trace: RequestTrace;
  /** The GraphQL operation; undefined for any other request, or while it is not known. */
  operation: { readonly type: string; readonly name: string | undefined } | undefined;
  /** Whether a field asked for the caller's key; without an error in the result, it was a good one. */
  usedKey = false;
  /** The codes of the errors in the result, each once for each error. */
  codes: readonly string[] = [];
  readonly calls: CallRecord[] = [];
  /** The deprecated fields that the operation uses. */
  deprecatedFields: readonly string[] = [];
  readonly #start = performance.now();

  constructor(requestId: string, trace: RequestTrace) {
    this.requestId = requestId;
    this.trace = trace;
  }

  /** A name is the client's: what is longer than a name should be is cut off. */
  setOperation(type: string, name: string | undefined): void {
    this.operation = { type, name: name?.slice(0, 64) };
  }

  /** Notes that a field asked for the caller's key. */
  onKey(): void {
    this.usedKey = true;
  }

  /** The time since the request came in, in milliseconds with two decimals. */
  elapsedMs(): number {
    return rounded(performance.now() - this.#start);
  }

  /** Follows one call to the backend: see `Call.observe`. */
  readonly observe = (operation: string) => {
    const trace = this.trace.startCall(operation);
    return {
      traceparent: trace.traceparent,
      end: (status: number | string, ms: number) => {
        this.calls.push({ operation, status, ms: rounded(ms) });
        trace.end(status, typeof status === 'string' || status >= 500);
      },
    };
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
