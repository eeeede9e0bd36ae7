import { setTimeout as wait } from 'node:timers/promises';
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
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Log } from './log.ts';
import { parseTraceparent, type TraceHeaders, type Tracing, traceHeaders } from './trace.ts';

/** The timeout of the last export during shutdown, in milliseconds. */
const lastExportMs = 1000;

/**
 * Sends spans in batches to `<endpoint>/v1/traces`: one per request and one per REST call.
 * OpenTelemetry's own OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES describe the process.
 * If an export fails, its spans are lost; only the first failure in a row is logged.
 */
export function openOtlpTracing(endpoint: URL, log: Log): Tracing {
  const url = `${endpoint.href.replace(/\/+$/, '')}/v1/traces`;
  let isFailing = false;
  const fail = (err: unknown) => {
    if (!isFailing) log.warn({ err }, 'traces are not exported');
    isFailing = true;
  };
  const exporter = new OTLPTraceExporter({ url });
  const observed: SpanExporter = {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // OpenTelemetry's ExportResultCode.SUCCESS.
        if (result.code === 0) isFailing = false;
        else fail(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'petstore-gateway' }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter: observed })],
  });
  const tracer = provider.getTracer('petstore-gateway');

  return {
    startRequest(traceparent, tracestate) {
      const parent = parseTraceparent(traceparent);
      const traceState = tracestate ? createTraceState(tracestate) : undefined;
      const parentContext = parent
        ? trace.setSpanContext(ROOT_CONTEXT, {
            ...parent,
            ...(traceState && { traceState }),
            isRemote: true,
          })
        : ROOT_CONTEXT;
      const request = tracer.startSpan('request', { kind: SpanKind.SERVER }, parentContext);
      const requestContext = trace.setSpan(ROOT_CONTEXT, request);
      return {
        traceId: request.spanContext().traceId,
        startCall(operation) {
          const call = tracer.startSpan(operation, { kind: SpanKind.CLIENT }, requestContext);
          return {
            headers: headersOf(call),
            end(status) {
              const isStatus = typeof status === 'number';
              call.setAttribute(isStatus ? 'http.response.status_code' : 'error.type', status);
              end(call, !isStatus || status >= 500);
            },
          };
        },
        end({ title, method, status, requestId, codes, operation, caller, firstPartMs }) {
          request.updateName(title).setAttributes({
            'http.request.method': method,
            'http.response.status_code': status,
            'graphql.operation.type': operation?.type,
            'graphql.operation.name': operation?.name,
            'petstore.request_id': requestId,
            'petstore.account': caller?.account,
            'petstore.key_id': caller?.keyId,
            'petstore.credential': caller?.credential,
            'petstore.first_part_ms': firstPartMs,
            ...(codes.length > 0 && { 'petstore.error_codes': codes.join(' ') }),
          });
          end(request, status >= 500 || codes.length > 0);
        },
      };
    },
    // Exports the remaining spans. All requests are complete, so a failure is only logged.
    async [Symbol.asyncDispose]() {
      const timedOut = wait(lastExportMs, undefined, { ref: false }).then(() => {
        throw new Error(`The collector did not accept the last spans within ${lastExportMs} ms.`);
      });
      await Promise.race([provider.shutdown(), timedOut]).catch(fail);
    },
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
