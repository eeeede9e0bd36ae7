import { ReadableStream, TextEncoderStream } from 'node:stream/web';
import { BodyReader, maxBodyBytes } from '../../http/body.ts';
import {
  type HttpHandler,
  type HttpResponse,
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
  forwardHeaders?: readonly string[],
): FetchHandler {
  return async (request) => {
    const head = readHead(request, forwardHeaders);
    const body = await readBody(request, head.key, bodyBytes);
    return toResponse(await handle({ ...head, ...body, mayStream: true }), request.method);
  };
}

/** Reads a request without its body, with these and the usual headers. */
export function readHead(
  { method, url, headers, signal }: Request,
  forwardHeaders?: readonly string[],
) {
  // Bun passes on a malformed Host as part of the URL; the router refuses it.
  const { pathname: path, search, protocol } = URL.parse(url) ?? new URL('http://unknown/');
  const read = readHeaders(headers, readableHeaders);
  if (forwardHeaders) Object.assign(read, readHeaders(headers, forwardHeaders));
  const key = keyOf(read.authorization);
  const scheme = protocol === 'https:' ? 'https' : 'http';
  return { method, scheme, path, search: search.slice(1), headers: read, key, signal } as const;
}

/** Reads the body of a request with this key, up to its limit. */
export async function readBody(request: Request, key: number, bodyBytes: Share) {
  const reader = new BodyReader(key, bodyBytes);
  if (request.method !== 'GET' && request.method !== 'HEAD') await pushBody(request, reader);
  return { body: reader.end(), heldBody: reader };
}

/**
 * Trusts `Content-Length`, which the server has enforced, because `arrayBuffer` is faster than a
 * stream in Hono (docs/performance.md).
 */
async function pushBody(request: Request, reader: BodyReader): Promise<void> {
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

/** Returns the response to a request with this method. */
export function toResponse(
  { status, headers, body, parts }: HttpResponse,
  method: string,
): Response {
  if (method === 'HEAD' || status === 204 || status === 304) {
    return new Response(null, { status, headers });
  }
  if (typeof body === 'string' && !parts) return new Response(body, { status, headers });
  // Bytes are passed on as they are; `new Response(bytes)` would copy all of them immediately.
  const stream = parts
    ? ReadableStream.from(parts).pipeThrough(new TextEncoderStream())
    : ReadableStream.from([body]);
  // Node's types of streams differ from those of Fetch.
  return new Response(stream as BodyInit, { status, headers });
}
