import type { GatewayRequest, RequestServer } from '../request/gateway-request.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { HttpError, methodNotAllowed, restErrorResponse } from './error.ts';
import { type Health, probePaths } from './health.ts';
import type { HttpResponse, RequestHead } from './http-message.ts';
import { type Listener, listen } from './listen.ts';
import { parseAccept } from './media-type.ts';
import { oncePer } from './once.ts';

/** Where to serve metrics and health checks. */
export interface AdminOptions {
  readonly adminHost: string;
  /** A separate port for `/metrics`, `/livez` and `/readyz`; undefined for none. */
  readonly adminPort: number | undefined;
}

/** The formats of metrics, OpenMetrics and Prometheus's older one. */
const formats = /^(?:application\/openmetrics-text|text\/(?:plain|\*))$/;

/** Converts OpenMetrics to the older format: without exemplars, and with `_total` in the names of counters. */
function toText(openMetrics: string): string {
  const counters = new Set(openMetrics.match(/(?<=^# TYPE )\w+(?= counter$)/gm));
  return openMetrics
    .replace(/(?<=^# (?:HELP|TYPE) )\w+/gm, (name) => (counters.has(name) ? `${name}_total` : name))
    .replace(/^([^#].*) # \{.*\} [\d.e+-]+ [\d.]+$/gm, '$1');
}

/** Serves `/metrics`, with one scrape per second, `/livez` and `/readyz` on the admin port, if there is one. */
export async function listenAdmin(
  server: Omit<RequestServer, 'handle'>,
  metrics: Metrics,
  health: Health | undefined,
  { adminHost: host, adminPort: port }: AdminOptions,
  scrapeNow = () => metrics.scrape(),
): Promise<Listener | undefined> {
  if (port === undefined) return undefined;
  const scrape = oncePer(1000, scrapeNow);
  async function respond(head: RequestHead): Promise<HttpResponse> {
    const { method, path } = head;
    if (health && probePaths.has(path)) return health(head);
    if (path !== '/metrics') throw new HttpError(404, 'NOT_FOUND', 'This path does not exist.');
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD', method);
    const { contentType, text } = await scrape();
    const headers = { 'content-type': contentType, vary: 'Accept' };
    const accepted = parseAccept(head.headers['accept'] ?? '');
    const first = accepted.find(({ type, q }) => q > 0 && formats.test(type));
    if (!first?.type.startsWith('text/')) return { status: 200, headers, body: text };
    headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8';
    return { status: 200, headers, body: toText(text) };
  }

  const handle = (request: GatewayRequest) =>
    respond(request.head)
      .catch((error) => restErrorResponse(request.reportError(error)))
      .finally(() => request.scope.end());
  return listen({ ...server, handle }, { host, port, maxConnections: 100, metrics });
}
