/** Starts the traces of requests. */
export interface Tracing extends AsyncDisposable {
  /**
   * Starts the trace of a request with these headers (W3C Trace Context); undefined if it has none.
   */
  startRequest(
    traceparent: string | null | undefined,
    tracestate: string | null | undefined,
  ): RequestTrace | undefined;
}

/** The attributes of a request's span. */
export interface RequestOutcome {
  /** The GraphQL operation, or the method and path. */
  readonly name: string;
  /** The HTTP method. */
  readonly method: string;
  readonly status: number;
  readonly requestId: string;
  /** The codes of the errors in its GraphQL result. */
  readonly codes: readonly string[];
  /** The GraphQL operation; undefined for any other request. */
  readonly operation: { readonly type: string; readonly name: string | undefined } | undefined;
  /** The time to the first part of a response in parts, in milliseconds. */
  readonly firstPartMs: number | undefined;
}

/** The headers of W3C Trace Context. */
export type TraceHeaders = Readonly<{ traceparent: string; tracestate?: string }>;

/** The trace of one request. */
export interface RequestTrace {
  readonly traceId: string | undefined;
  /** Starts the span of a REST call. */
  startCall(operation: string): CallTrace;
  /** Ends the trace. */
  end(outcome: RequestOutcome): void;
}

/** The span of one REST call. */
export interface CallTrace {
  /** The headers to send to the REST service, so that its spans join the trace. */
  readonly headers: TraceHeaders | undefined;
  end(outcome: number | string, isError: boolean): void;
}

/** Version 00, or a later one with at most 256 more characters; ff is not valid. */
const traceparentHeader =
  /^(?!ff|00.{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[ -~]{0,256})?$/;

/**
 * Parses the first fields of a `traceparent` header of any version, of whose flags only the sampled
 * one is known (W3C Trace Context, section 3.2.4). Returns undefined if it is malformed or an id is
 * all zeros.
 */
export function parseTraceparent(header: string | null | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = traceparentHeader.exec(header ?? '') ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/**
 * Returns the headers to forward: `traceparent` unchanged, because only a service that adds a span
 * analyzes its version (section 3.2.4). `tracestate` is dropped unless it is printable and has at most
 * 512 characters, which must be propagated (W3C Trace Context, section 3.3.1.5).
 */
export function traceHeaders(
  traceparent: string,
  tracestate: string | null | undefined,
): TraceHeaders {
  return tracestate && /^[\t\x20-\x7e]{1,512}$/.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}
