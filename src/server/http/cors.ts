import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';

/** Lets pages of some origins read responses in a browser (WHATWG Fetch, "CORS protocol"). */
export interface Cors {
  /**
   * The response to a preflight request of an allowed origin; undefined for any other request. Records
   * the origin of a refused one.
   */
  preflight(
    request: HttpRequest,
    record: Pick<RequestRecord, 'setRefusedOrigin'>,
  ): HttpResponse | undefined;
  /** Adds what the browser of a page needs before the page may read the response. */
  addHeaders(request: HttpRequest, response: HttpResponse): void;
}

/** Header names, comma-separated; what else a preflight might ask for is not mirrored. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * CORS for these origins, without cookies: a page sends its API key or none. `http://localhost:*` allows
 * every port. An allowed page may send any header, because client libraries and tracing tools add
 * their own.
 */
export function createCors(origins: readonly string[]): Cors {
  const allows = (origin: string | undefined): origin is string =>
    origin !== undefined &&
    (origins.includes(origin) || origins.includes(`${origin.replace(/:\d+$/, '')}:*`));
  return {
    preflight({ method, headers }, record) {
      const { origin } = headers;
      const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers;
      if (!isPreflight || origin === undefined) return undefined;
      if (!allows(origin)) return void record.setRefusedOrigin(origin);
      const requested = headers['access-control-request-headers'] ?? '';
      return {
        status: 204,
        headers: {
          'access-control-allow-methods': 'GET, POST',
          ...(headerNames.test(requested) && { 'access-control-allow-headers': requested }),
          'access-control-max-age': '3600',
          vary: 'Access-Control-Request-Headers',
        },
        body: '',
      };
    },
    addHeaders({ headers: { origin } }, { headers }) {
      if (origins.length === 0) return;
      // For refused origins too, or a cache would serve their response to an allowed one.
      headers['vary'] = headers['vary'] ? `${headers['vary']}, Origin` : 'Origin';
      if (!allows(origin)) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] = 'x-request-id, retry-after';
    },
  };
}
