/** Lets pages of some origins read answers in a browser (WHATWG Fetch, "CORS protocol"). */
export interface Cors {
  /** The answer to a preflight request; undefined for any other request. */
  preflight(request: Request): Response | undefined;
  /** Adds to an answer what the browser of an allowed origin needs to see. */
  expose(request: Request, response: Response): void;
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
    expose(request, { headers }) {
      if (origins.length === 0) return;
      // Said of refused origins too, or a cache would serve their answer to an allowed one.
      headers.append('vary', 'Origin');
      if (!allows(request)) return;
      headers.set('access-control-allow-origin', request.headers.get('origin') ?? '');
      headers.set('access-control-expose-headers', 'x-request-id, retry-after');
    },
  };
}
