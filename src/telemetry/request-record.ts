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
  /** The codes of the errors in the result, each once for each error. */
  codes: readonly string[] = [];
  readonly calls: CallRecord[] = [];
  readonly #start = performance.now();

  constructor(requestId: string, trace: RequestTrace) {
    this.requestId = requestId;
    this.trace = trace;
  }

  /** The time since the request came in, in milliseconds with two decimals. */
  elapsedMs(): number {
    return rounded(performance.now() - this.#start);
  }

  /** Follows one call to the backend: see `Call.observe`. */
  readonly observe = (operation: string) => {
    const start = performance.now();
    const trace = this.trace.startCall(operation);
    return {
      ...(trace.traceparent && { traceparent: trace.traceparent }),
      end: (status: number | string) => {
        this.calls.push({ operation, status, ms: rounded(performance.now() - start) });
        trace.end(status, typeof status === 'string' || status >= 500);
      },
    };
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
