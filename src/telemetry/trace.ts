/** The start of a request; without a scheme if its caller is in this process. */
export interface RequestHead {
  readonly method: string;
  readonly scheme?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** What the trace of a request shows of its end. */
export interface EndedRequest {
  readonly requestId: string;
  readonly status: number;
  readonly route: string | undefined;
  readonly operation: { readonly type: string; readonly name: string | undefined } | undefined;
  readonly codes: readonly string[];
  readonly identity:
    | Readonly<Partial<Record<'account' | 'keyId' | 'credential', string>>>
    | undefined;
  readonly firstPartMs: number | undefined;
}

/** Starts the traces of requests. */
export interface Tracing extends AsyncDisposable {
  /** Whether requests without trace headers are traced, too. */
  readonly isRecording: boolean;
  /** Starts the trace of a request, or continues the one in its headers (W3C Trace Context). */
  startRequest(head: RequestHead): RequestTrace | undefined;
}

/** Which traces are recorded: OTEL_TRACES_SAMPLER, and the fraction for `traceidratio`. */
export interface Sampling {
  readonly tracesSampler: string;
  readonly tracesSamplerArg: number;
}

/** The headers of W3C Trace Context. */
export type TraceHeaders = Readonly<{ traceparent: string; tracestate?: string }>;

/** The trace of one request. */
export interface RequestTrace {
  readonly traceId: string | undefined;
  /** Starts the span of a call to a service, unless its base URL is missing. */
  startCall(call: TracedCall, baseUrl: URL): CallTrace;
  /** Starts the span of a query such as `SELECT pets`. The result ends it, with the type of an error. */
  startQuery(query: string, databaseUrl: string): ((errorType?: string) => void) | undefined;
  /** Ends the trace. */
  end(request: EndedRequest): void;
}

/** A call to the REST service: `path` is below its base URL, `template` without parameters. */
export interface TracedCall {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly template?: string;
}

/** The span of one call. */
export interface CallTrace {
  /** The headers to send to the REST service, so that its spans join the trace. */
  readonly headers: TraceHeaders | undefined;
  /**
   * Ends the span with the HTTP status or the kind of failure. `call` has the status of the response,
   * and how often the call has been sent again.
   */
  end(
    outcome: number | string,
    call: { readonly status: number | null; readonly retries: number },
  ): void;
}

/** Version 00, or a later one with at most 256 more characters; ff is not valid. */
const traceparentHeader =
  /^(?!ff|00.{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[ -~]{0,256})?$/;

/**
 * Parses the first fields of a `traceparent` header of any version, of whose flags only the sampled
 * one is known (W3C Trace Context, section 3.2.4). Returns undefined if it is malformed or an id is
 * all zeros.
 */
export function parseTraceparent(header: string | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = traceparentHeader.exec(header ?? '') ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/**
 * Returns the headers to forward: `traceparent` unchanged, because only a service that adds a span
 * analyzes its version (section 3.2.4). `tracestate` is dropped unless it is printable and has at most
 * 512 characters, which must be propagated (W3C Trace Context, section 3.3.1.5).
 */
export function traceHeaders(traceparent: string, tracestate: string | undefined): TraceHeaders {
  return tracestate && /^[\t\x20-\x7e]{1,512}$/.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}
