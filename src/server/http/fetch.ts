import { ReadableStream, TextEncoderStream } from 'node:stream/web';
import { BodyReader, maxBodyBytes } from '../../http/body.ts';
import {
  type HttpHandler,
  type HttpResponse,
  isInParts,
  type RequestHeaders,
  requestHeaders,
} from '../../http/message.ts';
import { keyOf } from '../../limits/key.ts';
import type { Share } from '../../limits/share.ts';

/** A handler of WHATWG Fetch requests, as in Hono, Next and Deno. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Translates between Fetch and the handler. Rejects if the request body can't be read.
 * @param forwardHeaders further headers to read
 */
export function createFetchHandler(
  handle: HttpHandler,
  bodyBytes: Share,
  forwardHeaders: readonly string[] = [],
): FetchHandler {
  const names = [...readableHeaders, ...forwardHeaders];
  return async (request) => {
    const { method, signal } = request;
    // Bun passes on a malformed Host as part of the URL; the router refuses it.
    const { pathname, search, protocol } = URL.parse(request.url) ?? new URL('http://unknown/');
    const headers = readHeaders(request.headers, names);
    const key = keyOf(headers.authorization);
    const reader = new BodyReader(key, bodyBytes);
    if (method !== 'GET' && method !== 'HEAD') await readBody(request, reader);
    const response = await handle({
      method,
      scheme: protocol === 'https:' ? 'https' : 'http',
      path: pathname,
      search: search.slice(1),
      headers,
      key,
      body: reader.end(),
      heldBody: reader,
      mayStream: true,
      signal,
    });
    return toResponse(response, method);
  };
}

/**
 * Trusts `Content-Length`, which the server has enforced, because `arrayBuffer` is faster than a
 * stream in Hono (docs/performance.md).
 */
async function readBody(request: Request, reader: BodyReader): Promise<void> {
  const length = request.headers.get('content-length');
  try {
    if (length !== null && Number(length) <= maxBodyBytes) {
      reader.push(new Uint8Array(await request.arrayBuffer()));
    } else if (request.body !== null) {
      for await (const chunk of request.body) if (!reader.push(chunk)) break;
    }
  } catch (error) {
    reader[Symbol.dispose]();
    throw error;
  }
}

/**
 * Without `accept-encoding`: the server that sends the response compresses it. Next removes
 * `Content-Encoding` from the responses of routes.
 */
const readableHeaders = requestHeaders.filter((name) => name !== 'accept-encoding');

/** Reads headers by name. Iterating would make servers such as Hono's build the whole list. */
function readHeaders(headers: Headers, names: readonly string[]): RequestHeaders {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) values[name] = value;
  }
  return values;
}

function toResponse({ status, headers, body }: HttpResponse, method: string): Response {
  if (method === 'HEAD' || status === 204 || status === 304) {
    return new Response(null, { status, headers });
  }
  if (typeof body === 'string') return new Response(body, { status, headers });
  // Bytes are passed on as they are; `new Response(bytes)` would copy all of them immediately.
  const stream = isInParts(body)
    ? ReadableStream.from(body).pipeThrough(new TextEncoderStream())
    : ReadableStream.from([body]);
  // Node's types of streams differ from those of Fetch.
  return new Response(stream as BodyInit, { status, headers });
}
