import { BodyReader } from '../../http/body.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../http/message.ts';

/** A handler of WHATWG Fetch requests, as Hono, Next and Deno call it. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Translates between Fetch and the handler. Rejects when the request's body can't be read. */
export function createFetchHandler(handle: HttpHandler): FetchHandler {
  return async (request) => toResponse(await handle(await toRequest(request)), request.method);
}

async function toRequest(request: Request): Promise<HttpRequest> {
  const { method, headers, signal } = request;
  const { pathname, search } = new URL(request.url);
  return {
    method,
    path: pathname,
    search: search.slice(1),
    headers: Object.fromEntries(headers),
    body: await readBody(request),
    signal,
  };
}

async function readBody({ body }: Request): Promise<HttpRequest['body']> {
  const reader = new BodyReader();
  if (body !== null) for await (const chunk of body) reader.push(chunk);
  return reader.end();
}

function toResponse({ status, headers, body }: HttpResponse, method: string): Response {
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  return new Response(hasBody ? body : null, { status, headers });
}
