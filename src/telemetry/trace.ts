import type { CallerIdentity, CallerTrace } from '../contract/caller.ts';

/** What a request begins with; without a scheme if its caller is in this process. */
export interface TracedHead {
  readonly method: string;
  readonly scheme?: 'http' | 'https';
  /** The path of the request target, percent-encoding included: `/v1/owners`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Starts the traces of requests. */
export interface Tracing extends AsyncDisposable {
  /** Whether requests without trace headers are traced, too. */
  readonly isRecording: boolean;
  /** Starts the trace of a request, or continues the one in its headers (W3C Trace Context). */
  startRequest(head: TracedHead): RequestTrace | undefined;
}

/** Which traces are recorded: OTEL_TRACES_SAMPLER, and the fraction for `traceidratio`. */
export interface Sampling {
  readonly tracesSampler: string;
  readonly tracesSamplerArg: number;
}

/** The trace of one request. */
export interface RequestTrace extends CallerTrace {
  readonly traceId: string | undefined;
  end(request: {
    readonly requestId: string;
    readonly status: number;
    readonly route: string | undefined;
    readonly operation: { readonly type: string; readonly name: string | undefined } | undefined;
    readonly codes: readonly string[];
    readonly identity: CallerIdentity | undefined;
    readonly firstPartMs: number | undefined;
  }): void;
}

/** Version 00, or a later one with at most 256 more characters; ff is not valid. */
const traceparentHeader =
  /^(?!ff|00.{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[ -~]{0,256})?$/;

/** Parses the fields that all versions have (W3C Trace Context, section 3.2.4). */
export function parseTraceparent(header: string | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = traceparentHeader.exec(header ?? '') ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/**
 * Returns the headers to forward: `traceparent` unchanged, because only a service that adds a span
 * analyzes its version, and `tracestate` unless it is too long to propagate (section 3.3.1.5).
 */
export function traceHeaders(traceparent: string, tracestate?: string): Record<string, string> {
  return tracestate && /^[\t\x20-\x7e]{1,512}$/.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}
