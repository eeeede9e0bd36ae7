import { parseTraceparent, type RequestTrace, type Tracing } from './trace.ts';

/** Traces nothing of its own: the caller's `traceparent` goes on to the REST service as it is. */
const passThrough: Tracing = {
  startRequest(header) {
    const parent = header ? parseTraceparent(header) : undefined;
    return parent === undefined ? untraced : passingOn(header ?? undefined, parent.traceId);
  },
  async [Symbol.asyncDispose]() {},
};

function passingOn(traceparent: string | undefined, traceId: string | undefined): RequestTrace {
  const call = { traceparent, end() {} };
  return { traceId, startCall: () => call, end() {} };
}

const untraced = passingOn(undefined, undefined);

/**
 * Tracing with OpenTelemetry to an OTLP/HTTP endpoint such as `http://collector:4318`; without one,
 * nothing of it is loaded.
 */
export async function openTracing(endpoint: URL | undefined): Promise<Tracing> {
  if (endpoint === undefined) return passThrough;
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing(endpoint);
}
