import {
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { parseTraceparent, type TraceHeaders, type Tracing, traceHeaders } from './trace.ts';

/**
 * Sends spans in batches to `<endpoint>/v1/traces`: one for each request, one for each REST call.
 * OpenTelemetry's own OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES describe the process.
 */
export function openOtlpTracing(endpoint: URL): Tracing {
  const url = `${endpoint.href.replace(/\/+$/, '')}/v1/traces`;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'petstore-gateway' }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  const tracer = provider.getTracer('petstore-gateway');

  return {
    startRequest(traceparent, tracestate) {
      const parent = parseTraceparent(traceparent);
      const traceState = tracestate ? createTraceState(tracestate) : undefined;
      const above = parent
        ? trace.setSpanContext(ROOT_CONTEXT, {
            ...parent,
            ...(traceState && { traceState }),
            isRemote: true,
          })
        : ROOT_CONTEXT;
      const request = tracer.startSpan('request', { kind: SpanKind.SERVER }, above);
      const within = trace.setSpan(ROOT_CONTEXT, request);
      return {
        traceId: request.spanContext().traceId,
        startCall(operation) {
          const call = tracer.startSpan(operation, { kind: SpanKind.CLIENT }, within);
          return {
            headers: headersOf(call),
            end(outcome, isError) {
              const isStatus = typeof outcome === 'number';
              call.setAttribute(isStatus ? 'http.response.status_code' : 'error.type', outcome);
              end(call, isError);
            },
          };
        },
        end({ name, method, status, requestId, codes, operation }) {
          request.updateName(name).setAttributes({
            'http.request.method': method,
            'http.response.status_code': status,
            'graphql.operation.type': operation?.type,
            'graphql.operation.name': operation?.name,
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

function headersOf(span: Span): TraceHeaders {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return traceHeaders(`00-${traceId}-${spanId}-${flags}`, traceState?.serialize());
}

function end(span: Span, isError: boolean): void {
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
