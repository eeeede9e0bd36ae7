import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { parseTraceparent, type Tracing } from './trace.ts';

/** Sends spans in batches to `<endpoint>/v1/traces`: one for each request, one for each REST call. */
export function openOtlpTracing(endpoint: URL): Tracing {
  const url = `${endpoint.href.replace(/\/+$/, '')}/v1/traces`;
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'petstore-gateway' }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  const tracer = provider.getTracer('petstore-gateway');

  return {
    startRequest(header) {
      const parent = parseTraceparent(header);
      const above = parent
        ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
        : ROOT_CONTEXT;
      const request = tracer.startSpan('request', { kind: SpanKind.SERVER }, above);
      const within = trace.setSpan(ROOT_CONTEXT, request);
      return {
        traceId: request.spanContext().traceId,
        startCall(operation) {
          const call = tracer.startSpan(operation, { kind: SpanKind.CLIENT }, within);
          return {
            traceparent: traceparentOf(call),
            end(outcome, isError) {
              const isStatus = typeof outcome === 'number';
              call.setAttribute(isStatus ? 'http.response.status_code' : 'error.type', outcome);
              end(call, isError);
            },
          };
        },
        end({ name, method, status, requestId, codes }) {
          request.updateName(name).setAttributes({
            'http.request.method': method,
            'http.response.status_code': status,
            'petstore.request_id': requestId,
            ...(codes.length > 0 && { 'petstore.error_codes': codes.join(' ') }),
          });
          end(request, status >= 500 || codes.length > 0);
        },
      };
    },
    // What was not sent yet is sent now.
    [Symbol.asyncDispose]: () => provider.shutdown(),
  };
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function end(span: Span, isError: boolean): void {
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
