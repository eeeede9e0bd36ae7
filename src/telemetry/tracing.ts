import type { Log } from './log.ts';
import { parseTraceparent, type Sampling, type Tracing, traceHeaders } from './trace.ts';

/** Creates no spans, and forwards the caller's trace headers to the REST service. */
const passThrough: Tracing = {
  isRecording: false,
  startRequest({ headers: { traceparent, tracestate } }) {
    const parent = traceparent ? parseTraceparent(traceparent) : undefined;
    if (!traceparent || parent === undefined) return undefined;
    const call = { headers: traceHeaders(traceparent, tracestate), end() {} };
    const { traceId } = parent;
    return { traceId, startCall: () => call, startQuery: () => undefined, end() {} };
  },
  async [Symbol.asyncDispose]() {},
};

/** Opens tracing to an OTLP/HTTP endpoint. Without one, it only forwards trace headers. */
export async function openTracing(
  endpoint: URL | undefined,
  log: Log,
  sampling: Sampling = { tracesSampler: 'parentbased_always_on', tracesSamplerArg: 1 },
): Promise<Tracing> {
  if (endpoint === undefined) return passThrough;
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing(endpoint, log, sampling);
}
