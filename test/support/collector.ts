import { sendJson, startUpstream } from './upstream.ts';

/** A span in the JSON encoding of OTLP/HTTP. */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly Attribute[];
  /** The attributes of the process that exported it. */
  readonly resource: readonly Attribute[];
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

/** Starts a collector that receives traces over OTLP/HTTP and records their spans. */
export async function startCollector() {
  const spans: ExportedSpan[] = [];
  const server = await startUpstream(({ method, url, body }, response) => {
    if (method !== 'POST' || url !== '/v1/traces') return sendJson(response, 404, '{}');
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }: { spans: object[] }) => spans)) {
        spans.push({ ...span, resource: resource.attributes });
      }
    }
    sendJson(response, 200, '{"partialSuccess":{}}');
  });
  return {
    spans,
    /** The requests that it has received. */
    seen: server.seen,
    url: server.url,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
