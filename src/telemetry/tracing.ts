import { parseTraceparent, type Tracing } from './trace.ts';

/** Traces nothing of its own: the caller's `traceparent` goes on to the REST service as it is. */
const passThrough: Tracing = {
  startRequest(header) {
    const parent = parseTraceparent(header);
    const traceparent = parent && header ? header : undefined;
    return {
      traceId: parent?.traceId,
      startCall: () => ({ traceparent, end() {} }),
      end() {},
    };
  },
  async [Symbol.asyncDispose]() {},
};

/**
 * Tracing with OpenTelemetry to an OTLP/HTTP endpoint such as `http://collector:4318`; without one,
 * nothing of it is loaded.
 */
export async function openTracing(endpoint: URL | undefined): Promise<Tracing> {
  if (endpoint === undefined) return passThrough;
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing(endpoint);
}
