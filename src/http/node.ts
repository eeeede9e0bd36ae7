import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import type { GatewayRequest, RequestServer } from '../request/gateway-request.ts';
import type { RequestBody } from './body.ts';
import type { Connections } from './connections.ts';
import { HttpError, internalError, restErrorResponse } from './error.ts';
import type { HttpResponse, RequestHead, RequestHeaders } from './http-message.ts';

/**
 * Translates between `node:http` and the gateway. If the client disconnects early, the request is
 * cancelled and nothing is written.
 * @param connections those of a server of the gateway's own
 */
export function createNodeListener(server: RequestServer, connections?: Connections) {
  async function respond(
    request: GatewayRequest,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    try {
      const response = await server.handle(request);
      if (connections?.portClosed) {
        await connections.portClosed;
        if (connections.isLast(incoming)) response.headers['connection'] = 'close';
      }
      const refused = request.body.error && !incoming.complete ? request.body : undefined;
      write(response, incoming, outgoing, connections, refused);
    } catch (error) {
      request.fail();
      // A request that can't be reported or written must not end the process.
      Promise.try(() => request.reportError(error)).catch(() => {});
      Promise.try(write, restErrorResponse(internalError()), incoming, outgoing, connections)
        .catch(() => {})
        .finally(() => outgoing.writableEnded || outgoing.destroy());
    }
  }

  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (connections?.start(incoming) === false) return;
    const request = server.open(headOf(incoming));
    let isHandled = false;
    outgoing.once('close', () => {
      if (!isHandled) request.fail();
      // Over HTTP/2, Node finishes the stream of a client that has left.
      else if (!outgoing.writableEnded || !outgoing.writableFinished) request.scope.cancel();
      connections?.end(incoming);
    });
    // Node parses requests without a version, and those of HTTP/2 in the syntax of HTTP/1.1, too.
    const { httpVersionMajor: version } = incoming;
    if (version === 0 || (version === 2 && !('stream' in incoming)))
      return void write(restErrorResponse(unsupportedVersion), incoming, outgoing, connections);
    const onBody = () => {
      if (request.scope.cancelled) return;
      isHandled = true;
      respond(request, incoming, outgoing);
    };
    if (!mayHaveBody(incoming)) onBody();
    else {
      // The connection is closed, too.
      incoming.on('error', () => {});
      const coding = incoming.headers['transfer-encoding'];
      if (coding && !/^chunked$/i.test(coding)) request.body.refuse(unsupportedTransfer(coding));
      // A host's async context, which Node's events do not have. A server of the gateway's own has none.
      request.body.readFrom(incoming, connections ? onBody : AsyncResource.bind(onBody));
    }
  };
}

/**
 * Whether there is a body to read. Over HTTP/1.1, headers announce it (RFC 9112, section 6). That of a
 * GET may have been consumed by a body parser.
 */
function mayHaveBody(incoming: IncomingMessage): boolean {
  const { method, headers, httpVersionMajor, readableDidRead } = incoming;
  const isGet = method === 'GET' || method === 'HEAD';
  if (isGet && readableDidRead) return false;
  if (!isGet && httpVersionMajor > 1) return true;
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

const unsupportedVersion = new HttpError(505, 'BAD_REQUEST', 'version: expected HTTP/1.1 or 1.0.');

/** 501: Node decodes only the coding `chunked` (RFC 9112, section 6.1). */
function unsupportedTransfer(coding: string): HttpError {
  const received = JSON.stringify(coding.slice(0, 100));
  const message = `transfer-encoding: expected chunked, received ${received}.`;
  return new HttpError(501, 'BAD_REQUEST', message);
}

function headOf(incoming: IncomingMessage & { readonly originalUrl?: string }): RequestHead {
  // Express removes the path that it has routed from `url`.
  const { method = 'GET', url: routed = '/', originalUrl: url = routed } = incoming;
  const target = url.startsWith('/') ? url : pathOfAddress(url);
  const mark = target.indexOf('?');
  return {
    method,
    scheme: (incoming.socket as Partial<TLSSocket> | null)?.encrypted ? 'https' : 'http',
    path: mark < 0 ? target : target.slice(0, mark),
    search: mark < 0 ? '' : target.slice(mark + 1),
    ...headersOf(incoming),
    mayStream: incoming.httpVersion !== '1.0',
  };
}

/** Returns the path and query of a request target in absolute form (RFC 9112, section 3.2.2). */
function pathOfAddress(target: string): string {
  const url = URL.parse(target);
  return url === null ? '/' : url.pathname + url.search;
}

/**
 * Joins duplicate headers of which Node keeps only the first, so that others are refused. It joins most
 * headers without a trace, so their names are listed.
 */
function headersOf(incoming: IncomingMessage): Pick<RequestHead, 'headers' | 'repeated'> {
  // Only Set-Cookie is an array, which is a response header.
  const headers = incoming.headers as RequestHeaders;
  const { rawHeaders } = incoming;
  if (rawHeaders.length === 2 * Object.keys(headers).length) return { headers };
  const names = rawHeaders.map((name, index) => (index % 2 === 0 ? name.toLowerCase() : ''));
  const joined = (name: string) =>
    rawHeaders.filter((_, index) => names[index - 1] === name).join(', ');
  const seen = new Set<string>();
  const repeated = names.filter((name) => seen.has(name) || !seen.add(name));
  const given = ['authorization', 'content-type'].filter((name) => seen.has(name));
  const all = Object.fromEntries(given.map((name) => [name, joined(name)]));
  return { headers: { ...headers, ...all }, repeated };
}

/** Writes a response. If the rest of a refused body is still being read, it ends after that. */
function write(
  { status, headers, body, parts }: HttpResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  connections: Connections | undefined,
  refused?: RequestBody,
): void {
  if (outgoing.destroyed || outgoing.headersSent) {
    parts?.return().catch(() => {});
    return;
  }
  if (parts) {
    connections?.watch(incoming.socket);
    outgoing.writeHead(status, headers);
    // A stream, because over HTTP/2 Node leaves an iterator open when the client disconnects.
    pipeline(Readable.from(parts), outgoing)
      .catch(() => parts.return())
      .catch(() => {});
    return;
  }
  if (status !== 204 && status !== 304) {
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  // HTTP/2 forbids the header.
  if (refused && incoming.httpVersionMajor === 1) headers['connection'] = 'close';
  // Not chained: in some hosts, such as serverless-http, it returns nothing.
  outgoing.writeHead(status, headers);
  if (refused && !incoming.isPaused() && !incoming.readableEnded && !incoming.destroyed) {
    outgoing.write(body);
    refused.onDiscarded = () => void outgoing.end();
    return;
  }
  outgoing.end(body);
  if (outgoing.writableLength > 0) connections?.watch(incoming.socket);
}
