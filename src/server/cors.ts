/** Lets pages of some origins read answers in a browser (WHATWG Fetch, "CORS protocol"). */
export interface Cors {
  /** The answer to a preflight request; undefined for any other request. */
  preflight(request: Request): Response | undefined;
  /** What an answer to a page of this origin says, so that its browser lets it be read. */
  headersFor(origin: string | null | undefined): Readonly<Record<string, string>>;
}

/** CORS for exactly these origins, without cookies: a key is sent by the page or not at all. */
export function createCors(origins: readonly string[]): Cors {
  const allows = (request: Request) => origins.includes(request.headers.get('origin') ?? '');
  return {
    preflight(request) {
      const isPreflight =
        request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
      if (!isPreflight || !allows(request)) return undefined;
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-methods': 'GET, POST',
          'access-control-allow-headers': 'authorization, content-type, x-request-id',
          'access-control-max-age': '3600',
        },
      });
    },
    headersFor(origin) {
      if (origins.length === 0) return none;
      // Said to refused origins too, or a cache would serve their answer to an allowed one.
      if (!origin || !origins.includes(origin)) return varying;
      return {
        ...varying,
        'access-control-allow-origin': origin,
        'access-control-expose-headers': 'x-request-id, retry-after',
      };
    },
  };
}

const none = {};
const varying = { vary: 'Origin' };
