import { ReadableStream, TextEncoderStream } from 'node:stream/web';
import type { RequestServer } from '../request/gateway-request.ts';
import { maxBodyBytes, type RequestBody } from './body.ts';
import type { FetchHandler, HttpResponse, RequestHead } from './http-message.ts';

/** Translates between Fetch and the gateway. Rejects if the request body can't be read. */
export function createFetchHandler(server: RequestServer): FetchHandler {
  return async (request) => {
    const served = server.open(readHead(request));
    const wasAborted = request.signal.aborted;
    try {
      await readBody(request, served.body);
    } catch (error) {
      served.fail();
      throw error;
    }
    const { aborted, reason } = request.signal;
    // Reading fails if the client leaves: srvx 0.8 aborts the signal of every body that has been read.
    if (wasAborted || !aborted || reason?.name === 'TimeoutError') served.scope.follow(request);
    return toFetchResponse(await server.handle(served), request.method);
  };
}

/** Reads a request without its body. */
export function readHead({ method, url, headers }: Request): RequestHead {
  // Bun passes on a malformed Host as part of the URL; the router refuses it.
  const { pathname: path, search, protocol } = URL.parse(url) ?? new URL('http://unknown/');
  const scheme = protocol === 'https:' ? 'https' : 'http';
  // Servers compress responses themselves, and Next removes `Content-Encoding` from routes'.
  const { 'accept-encoding': _, ...read } = Object.fromEntries(headers);
  return { method, scheme, path, search: search.slice(1), headers: read };
}

/**
 * Reads the body of a request, up to its limit. Trusts `Content-Length`, which the server has enforced,
 * because `arrayBuffer` is faster than a stream in Hono (docs/performance.md).
 */
export async function readBody(request: Request, body: RequestBody): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const length = request.headers.get('content-length');
  if (length !== null && Number(length) <= maxBodyBytes) {
    body.push(new Uint8Array(await request.arrayBuffer()));
  } else if (request.body !== null) {
    for await (const chunk of request.body) if (!body.push(chunk)) break;
  }
}

/** Returns the response to a request with this method. */
export function toFetchResponse(
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
