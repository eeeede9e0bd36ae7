import { HttpError, methodNotAllowed } from '../http/error.ts';
import { restErrorResponse } from '../http/error-response.ts';
import type { HttpHandler } from '../http/message.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type Health, probePaths } from './health.ts';

/** Creates the handler of the admin port: `/metrics`, `/livez` and `/readyz`. */
export function createAdmin(
  metrics: Pick<Metrics, 'scrape'>,
  health: Health | undefined,
): HttpHandler {
  return async (request) => {
    const { method, path } = request;
    if (health && probePaths.has(path)) return health(request);
    if (path !== '/metrics') {
      return restErrorResponse(new HttpError(404, 'NOT_FOUND', 'This path does not exist.'));
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return restErrorResponse(methodNotAllowed('GET, HEAD', method));
    }
    const { contentType, text } = await metrics.scrape();
    return { status: 200, headers: { 'content-type': contentType }, body: text };
  };
}
