import { setTimeout as wait } from 'node:timers/promises';
import {
  type Attributes,
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
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { RestRequest } from '../contract/request.ts';
import type { Log } from './log.ts';
import {
  parseTraceparent,
  type Sampling,
  type TracedHead,
  type Tracing,
  traceHeaders,
} from './trace.ts';

/** The timeout of the last export during shutdown, in milliseconds. */
const lastExportMs = 1000;

/** Maximum length of a path in a trace, in characters. */
const maxPathLength = 256;

/** Sends spans as OpenTelemetry's conventions name them. A failed export loses its spans. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the spans share one processor.
export function openOtlpTracing(endpoint: URL, log: Log, sampling: Sampling): Tracing {
  let isFailing = false;
  const fail = (err: unknown) => {
    if (!isFailing) log.warn({ err }, 'traces are not exported');
    isFailing = true;
  };
  const exporter = new OTLPTraceExporter({ url: endpoint.href });
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
    sampler: samplerOf(sampling),
    spanProcessors: [new BatchSpanProcessor({ exporter: observed })],
  });
  const tracer = provider.getTracer('petstore-gateway');

  return {
    isRecording: true,
    startRequest(head) {
      const { traceparent, tracestate } = head.headers;
      const parent = parseTraceparent(traceparent);
      // At most 32 members are valid (W3C Trace Context, section 3.3.1.1).
      const traceState = tracestate && createTraceState(tracestate.split(',', 32).join());
      const remote = parent && { ...parent, ...(traceState && { traceState }), isRemote: true };
      const parentContext = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
      const options = { kind: SpanKind.SERVER, attributes: attributesOf(head) };
      const request = tracer.startSpan('GraphQL Operation', options, parentContext);
      const requestContext = trace.setSpan(ROOT_CONTEXT, request);
      const startSpan = (name: string, attributes: Attributes) =>
        tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, requestContext);
      return {
        traceId: request.spanContext().traceId,
        startCall(call, baseUrl) {
          const span = startSpan(...describeCall(call, baseUrl));
          return {
            headers: headersOf(span),
            end(outcome, { status, retries }) {
              span.setAttributes({
                'http.response.status_code': status ?? undefined,
                'http.request.resend_count': retries || undefined,
              });
              end(span, typeof outcome === 'number' && outcome < 400 ? undefined : outcome);
            },
          };
        },
        startQuery(query, databaseUrl) {
          const span = startSpan(query, attributesOfQuery(query, databaseUrl));
          return (errorType) => end(span, errorType);
        },
        end({ status, requestId, codes, operation, identity, firstPartMs, route }) {
          const name = operation?.type ?? nameOf(head, route);
          request.updateName(name).setAttributes({
            'http.route': route,
            'http.response.status_code': head.scheme && status,
            'graphql.operation.type': operation?.type,
            'graphql.operation.name': operation?.name,
            'petstore.request_id': requestId,
            'petstore.account': identity?.account,
            'petstore.key_id': identity?.keyId,
            'petstore.credential': identity?.credential,
            'petstore.first_part_ms': firstPartMs,
            ...(codes.length > 0 && { 'petstore.error_codes': codes.join(' ') }),
          });
          // A server's 4xx is no error of the server.
          end(request, status >= 500 ? status : status < 400 ? codes[0] : undefined);
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

function samplerOf({ tracesSampler, tracesSamplerArg }: Sampling) {
  const fraction = { on: 1, off: 0 }[tracesSampler.split('always_')[1] ?? ''] ?? tracesSamplerArg;
  const root = new TraceIdRatioBasedSampler(fraction);
  return tracesSampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

/** The methods that have a name of their own in traces. */
const knownMethods = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/;

/** Without the query, which may contain the variables of an operation. */
function attributesOf({ method, path, scheme }: TracedHead): Attributes {
  if (scheme === undefined) return {};
  const known = knownMethods.test(method);
  return {
    'http.request.method': known ? method : '_OTHER',
    'http.request.method_original': known ? undefined : method,
    'url.scheme': scheme,
    'url.path': path.slice(0, maxPathLength),
  };
}

/** Names the span of a request that is no GraphQL operation. */
function nameOf({ method, scheme }: TracedHead, route = ''): string {
  if (scheme === undefined) return 'GraphQL Operation';
  return `${knownMethods.test(method) ? method : 'HTTP'} ${route}`.trim();
}

/** Returns the name and the attributes of a call; fewer if the base URL is not configured. */
function describeCall(
  { operation, method, path, template }: RestRequest,
  baseUrl: URL,
): [string, Attributes] {
  const { origin, pathname, hostname, port, protocol } = baseUrl;
  const prefix = pathname.replace(/\/+$/, '');
  const route = template && prefix + template;
  const attributes = {
    'http.request.method': method,
    'url.template': route,
    'petstore.operation': operation,
    'url.full': origin + prefix + path,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
  return [route ? `${method} ${route}` : method, attributes];
}

function attributesOfQuery(query: string, databaseUrl: string): Attributes {
  const [operation, table] = query.split(' ');
  const postgres = /^postgres/.test(databaseUrl) ? URL.parse(databaseUrl) : undefined;
  return {
    'db.system.name': postgres ? 'postgresql' : 'sqlite',
    'db.namespace': postgres?.pathname.slice(1),
    'db.operation.name': operation,
    'db.collection.name': table,
  };
}

function headersOf(span: Span) {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return traceHeaders(`00-${traceId}-${spanId}-${flags}`, traceState?.serialize());
}

function end(span: Span, error: number | string | undefined): void {
  if (error !== undefined) {
    span.setAttribute('error.type', String(error)).setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
