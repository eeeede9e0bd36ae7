import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { BodyReader } from '../../http/body.ts';
import { internalError } from '../../http/error.ts';
import { restErrorResponse } from '../../http/error-response.ts';
import type {
  BodyParts,
  HttpHandler,
  HttpRequest,
  HttpResponse,
  RequestHeaders,
} from '../../http/message.ts';
import { keyOf } from '../../limits/key.ts';
import type { Share } from '../../limits/share.ts';

/** A request listener for `node:http` servers. Resolves when the response is passed to Node. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Translates between `node:http` and the handler. If the client disconnects early, the request's
 * signal is aborted and nothing is written. If the handler rejects, the status is 500.
 * @param bodyBytes limits the bytes of bodies
 * @param streams holds the bodies in parts that are being written
 * @param onClose called when a response is complete or its connection is closed
 */
export function createNodeListener(
  handle: HttpHandler,
  bodyBytes: Share,
  streams = new Set<BodyParts>(),
  onClose?: (incoming: IncomingMessage) => void,
): NodeListener {
  return async (incoming, outgoing) => {
    const client = new AbortController();
    // Node emits `close` once, like the events below; `once` takes longer, and so does a second
    // listener (docs/performance.md).
    outgoing.on('close', () => {
      if (!outgoing.writableEnded || !outgoing.writableFinished) client.abort();
      onClose?.(incoming);
    });
    try {
      const key = keyOf(incoming.headers.authorization);
      const reader = new BodyReader(key, bodyBytes);
      // The rest of the body would be parsed as another request. HTTP/2 forbids the header.
      const close = () =>
        incoming.httpVersionMajor === 1 && outgoing.setHeader('connection', 'close');
      const body = mayHaveBody(incoming) ? await reader.read(incoming, close) : reader.end();
      if (body === undefined) return;
      const { signal } = client;
      const response = await handle(toRequest(incoming, { key, body, heldBody: reader, signal }));
      if (!signal.aborted && !outgoing.headersSent)
        await write(response, outgoing, streams, signal);
      else await response.parts?.return();
    } catch {
      // Handlers map their own errors to responses. One that rejects must not crash the process.
      if (outgoing.headersSent) outgoing.destroy();
      else write(restErrorResponse(internalError()), outgoing, streams);
    }
  };
}

/**
 * Whether there is a body to read. A GET has one only if its headers announce it (RFC 9112, section
 * 6), and if no body parser has consumed it.
 */
function mayHaveBody({ method, headers, readableDidRead }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return true;
  if (readableDidRead) return false;
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function toRequest(
  incoming: IncomingMessage & { readonly originalUrl?: string },
  read: Pick<HttpRequest, 'key' | 'body' | 'heldBody' | 'signal'>,
): HttpRequest {
  // Express removes the path that it has routed from `url`.
  const { method = 'GET', url: routed = '/', originalUrl: url = routed } = incoming;
  const target = url.startsWith('/') ? url : pathOfAddress(url);
  const mark = target.indexOf('?');
  return {
    method,
    scheme: (incoming.socket as Partial<TLSSocket> | null)?.encrypted ? 'https' : 'http',
    path: mark < 0 ? target : target.slice(0, mark),
    search: mark < 0 ? '' : target.slice(mark + 1),
    headers: headersOf(incoming),
    mayStream: incoming.httpVersionMinor > 0,
    ...read,
  };
}

/** Returns the path and query of a request target in absolute form (RFC 9112, section 3.2.2). */
function pathOfAddress(target: string): string {
  const url = URL.parse(target);
  return url === null ? '/' : url.pathname + url.search;
}

/** Joins duplicate Authorization headers, so that they are refused. Node may keep only the first. */
function headersOf(incoming: IncomingMessage): RequestHeaders {
  // Only Set-Cookie is an array, which is a response header.
  const headers = incoming.headers as RequestHeaders;
  if (incoming.rawHeaders.length === 2 * Object.keys(headers).length) return headers;
  return { ...headers, authorization: incoming.headersDistinct['authorization']?.join(', ') };
}

async function write(
  { status, headers, body, parts }: HttpResponse,
  outgoing: ServerResponse,
  streams: Set<BodyParts>,
  signal?: AbortSignal,
): Promise<void> {
  if (parts) {
    outgoing.writeHead(status, headers);
    streams.add(parts);
    // A stream, because over HTTP/2 Node leaves an iterator open when the client disconnects.
    const written = pipeline(Readable.from(parts), outgoing, { signal });
    return written.finally(() => streams.delete(parts));
  }
  const length = Buffer.byteLength(body);
  if (status !== 204 && status !== 304) headers['content-length'] = String(length);
  outgoing.writeHead(status, headers);
  // If there are as many bytes as characters, the text is ASCII, which Node writes faster as
  // Latin-1 (docs/performance.md).
  const isAscii = typeof body === 'string' && length === body.length;
  outgoing.end(body, isAscii ? 'latin1' : 'utf8');
}
