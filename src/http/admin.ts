import type { RequestEnvironment } from '../request/request-environment.ts';
import type { RequestRecord } from '../request/request-record.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { HttpError, methodNotAllowed } from './error.ts';
import { restErrorResponse } from './error-response.ts';
import { type Health, probePaths } from './health.ts';
import { type Listener, listen } from './listen.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { oncePer } from './once.ts';

/** Where to serve metrics and health checks. */
export interface AdminOptions {
  readonly adminHost: string;
  /** A separate port for `/metrics`, `/livez` and `/readyz`; undefined for none. */
  readonly adminPort: number | undefined;
}

/** Serves `/metrics`, with one scrape per second, `/livez` and `/readyz` on the admin port, if there is one. */
export async function listenAdmin(
  environment: RequestEnvironment,
  metrics: Pick<Metrics, 'scrape'>,
  health: Health | undefined,
  { adminHost: host, adminPort: port }: AdminOptions,
): Promise<Listener | undefined> {
  if (port === undefined) return undefined;
  const scrape = oncePer(1000, () => metrics.scrape());
  async function respond(request: HttpRequest): Promise<HttpResponse> {
    const { method, path } = request;
    if (health && probePaths.has(path)) return health(request);
    if (path !== '/metrics') {
      return restErrorResponse(new HttpError(404, 'NOT_FOUND', 'This path does not exist.'));
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return restErrorResponse(methodNotAllowed('GET, HEAD', method));
    }
    const { contentType, text } = await scrape();
    return { status: 200, headers: { 'content-type': contentType }, body: text };
  }

  const handle = (record: RequestRecord) => respond(record).finally(() => record.endUnreported());
  return listen({ environment, handle }, { host, port, maxConnections: 100 });
}
