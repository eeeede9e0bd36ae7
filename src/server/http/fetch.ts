import { BodyReader } from '../../http/body.ts';
import type { HttpHandler, HttpResponse } from '../../http/message.ts';

/** A handler of WHATWG Fetch requests, as Hono, Next and Deno call it. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Translates between Fetch and the handler. Rejects when the request's body can't be read. */
export function createFetchHandler(handle: HttpHandler): FetchHandler {
  return async (request) => {
    const { body, headers, method, signal } = request;
    const { pathname, search } = new URL(request.url);
    const reader = new BodyReader();
    try {
      if (body !== null) for await (const chunk of body) reader.push(chunk);
      const response = await handle({
        method,
        path: pathname,
        search: search.slice(1),
        headers: Object.fromEntries(headers),
        body: reader.end(),
        signal,
      });
      return toResponse(response, method);
    } finally {
      reader.release();
    }
  };
}

function toResponse({ status, headers, body }: HttpResponse, method: string): Response {
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  return new Response(hasBody ? body : null, { status, headers });
}
