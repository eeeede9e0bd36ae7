import type { Log } from './log.ts';
import {
  parseTraceparent,
  type RequestTrace,
  type TraceHeaders,
  type Tracing,
  traceHeaders,
} from './trace.ts';

/** Traces nothing of its own: the caller's trace headers go on to the REST service as they are. */
const passThrough: Tracing = {
  startRequest(traceparent, tracestate) {
    const parent = traceparent ? parseTraceparent(traceparent) : undefined;
    if (!traceparent || parent === undefined) return untraced;
    return passingOn(traceHeaders(traceparent, tracestate), parent.traceId);
  },
  async [Symbol.asyncDispose]() {},
};

function passingOn(headers: TraceHeaders | undefined, traceId: string | undefined): RequestTrace {
  const call = { headers, end() {} };
  return { traceId, startCall: () => call, end() {} };
}

const untraced = passingOn(undefined, undefined);

/**
 * Tracing with OpenTelemetry to an OTLP/HTTP endpoint such as `http://collector:4318`; without one,
 * nothing of it is loaded.
 */
export async function openTracing(endpoint: URL | undefined, log: Log): Promise<Tracing> {
  if (endpoint === undefined) return passThrough;
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing(endpoint, log);
}
