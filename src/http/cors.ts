import type { Log } from '../telemetry/log.ts';
import { HttpError } from './error.ts';
import type { HttpResponse, RequestHead } from './http-message.ts';

/** Comma-separated header names. Anything else in a preflight request is not echoed. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[\t ]*,[\t ]*[\w!#$%&'*+.^`|~-]+)*$/;

/** An origin that `CORS_ORIGINS` accepts. Of those that are refused, the first 20 are logged. */
const httpOrigin = /^https?:\/\/[\w.:[\]-]{1,260}$/;

type Head = Pick<RequestHead, 'headers'>;

/**
 * Creates cross-origin resource sharing (WHATWG Fetch, "CORS protocol") for these origins, without
 * cookies: pages authenticate with an API key. `http://localhost:*` allows every port. Allowed pages
 * may send these methods, and any header, because client libraries and tracing tools add their own.
 */
export function createCors(
  origins: readonly string[],
  log: Pick<Log, 'warn'>,
  methods: readonly string[] = ['GET', 'POST'],
) {
  const warned = new Set<string>();
  const allows = (origin: string) =>
    origins.includes(origin) || origins.includes(`${origin.replace(/:\d+$/, '')}:*`);
  return {
    /** Returns the response to OPTIONS if it is a preflight. @throws HttpError if it is refused. */
    preflight({ headers }: Head, report: { refusedOrigin: string | undefined }) {
      const { origin } = headers;
      if (!('access-control-request-method' in headers) || origin === undefined) return undefined;
      if (!allows(origin)) {
        report.refusedOrigin = origin;
        if (warned.size < 20 && !warned.has(origin) && httpOrigin.test(origin)) {
          warned.add(origin);
          const allowed = { CORS_ORIGINS: [...origins, origin].join() };
          log.warn(allowed, 'a page of another origin was refused: set this to allow it');
        }
        const message = `Origin: expected one of CORS_ORIGINS, received ${JSON.stringify(origin.slice(0, 270))}.`;
        throw new HttpError(403, 'BAD_REQUEST', message);
      }
      const requested = headers['access-control-request-headers'] ?? '';
      return {
        status: 204,
        headers: {
          'access-control-allow-methods': methods.join(', '),
          ...(headerNames.test(requested) && { 'access-control-allow-headers': requested }),
          'access-control-max-age': '3600',
          vary: 'Access-Control-Request-Headers',
        },
        body: '',
      };
    },
    /** Adds the headers that allow the page to read the response. Call it if there are origins. */
    addHeaders({ headers: { origin } }: Head, { headers }: Pick<HttpResponse, 'headers'>): void {
      // Also for refused origins: otherwise a cache could serve their response to an allowed one.
      headers['vary'] = headers['vary'] ? `${headers['vary']}, Origin` : 'Origin';
      if (origin === undefined || !allows(origin)) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] =
        'etag, x-request-id, retry-after, ratelimit, ratelimit-policy, idempotent-replayed';
    },
  };
}
