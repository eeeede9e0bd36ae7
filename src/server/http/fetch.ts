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
  if (method === 'HEAD' || status === 204 || status === 304) {
    return new Response(null, { status, headers });
  }
  return new Response(typeof body === 'string' ? body : streamOf(body), { status, headers });
}

/** How much of the bytes is copied at a time. */
const chunkBytes = 64 * 1024;

/** Copies the bytes as they are read, where `new Response(bytes)` would copy all of them at once. */
function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let start = 0;
  const pull: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>['pull'] = (controller) => {
    if (start >= bytes.length) return controller.close();
    controller.enqueue(new Uint8Array(bytes.subarray(start, start + chunkBytes)));
    start += chunkBytes;
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
