/** Starts the trace of a request, as a part of its caller's trace where there is one. */
export interface Tracing extends AsyncDisposable {
  /** @param traceparent the header of the request (W3C Trace Context). */
  startRequest(traceparent: string | null | undefined): RequestTrace;
}

/** What a trace tells of a request at its end. */
export interface RequestOutcome {
  /** The GraphQL operation, or the method and path. */
  readonly name: string;
  /** The HTTP method. */
  readonly method: string;
  readonly status: number;
  readonly requestId: string;
  /** The codes of the errors in its GraphQL result. */
  readonly codes: readonly string[];
}

/** The trace of one request. */
export interface RequestTrace {
  readonly traceId: string | undefined;
  /** Starts the part of one REST call. */
  startCall(operation: string): CallTrace;
  /** Ends the trace. */
  end(outcome: RequestOutcome): void;
}

/** The trace of one REST call. */
export interface CallTrace {
  /** What the REST service is sent, so that its own part joins the trace. */
  readonly traceparent: string | undefined;
  end(outcome: number | string, isError: boolean): void;
}

const traceparentHeader = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The parts of a `traceparent` header; undefined when it is malformed or all zeros. */
export function parseTraceparent(header: string | null | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = traceparentHeader.exec(header ?? '') ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}
