import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyReader } from '../../http/body.ts';
import { HttpError, internalError } from '../../http/error.ts';
import { restErrorResponse } from '../../http/error-response.ts';
import {
  type BodyParts,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  isInParts,
  type RequestHeaders,
} from '../../http/message.ts';
import { holdBack } from './hold-back.ts';

/** A request listener for servers of `node:http`. Resolves when the response has been handed over. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Called for each request when it arrives. Undefined when it is to be answered at once; else resolves
 * when it is to be, with whether its client is still there.
 */
export type TakeTurn = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => Promise<boolean> | undefined;

/** How long a client may take to read its response once the socket is full, in milliseconds. */
const readTimeoutMs = 30_000;

/** The most that texts of responses may take together while clients do not read them, in bytes. */
const maxUnreadBytes = 32 * 1024 * 1024;

/**
 * Translates between `node:http` and the handler. When the client disconnects first, the request's
 * signal is aborted and nothing is written. A handler that rejects is answered with status 500. A body
 * is read at once, also that of a request that waits for its turn.
 */
export function createNodeListener(handle: HttpHandler, takeTurn?: TakeTurn): NodeListener {
  return async (incoming, outgoing) => {
    const turn = takeTurn?.(incoming, outgoing);
    const reader = new BodyReader(incoming.headers.authorization);
    try {
      const body = mayHaveBody(incoming)
        ? await readBody(incoming, outgoing, reader)
        : reader.end();
      if (body === undefined) return;
      if (turn !== undefined && !(await turn)) return;
      const client = new AbortController();
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) client.abort();
      });
      const response = await handle(toRequest(incoming, body, client.signal));
      if (!client.signal.aborted && !outgoing.headersSent) await write(response, outgoing);
    } catch {
      // A handler answers its own errors. One that rejects must not end the process.
      if (outgoing.headersSent) outgoing.destroy();
      else write(restErrorResponse(internalError()), outgoing);
    } finally {
      reader.release();
    }
  };
}

/** A GET has a body only if its headers say so (RFC 9112, section 6); what a body parser read is gone. */
function mayHaveBody({ method, headers, readableDidRead }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return true;
  if (readableDidRead) return false;
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * The body or its refusal; undefined when the client disconnects before it is complete. The connection
 * of a body that is not read to its end closes with the response.
 */
function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  reader: BodyReader,
): Promise<HttpRequest['body'] | undefined> {
  return new Promise((resolve) => {
    if (incoming.readableDidRead) return resolve(bodyWasRead());
    if (incoming.destroyed) return resolve(undefined);
    let isOver = false;
    incoming
      .on('data', (chunk: Buffer) => {
        if (reader.push(chunk) || isOver) return;
        isOver = true;
        outgoing.shouldKeepAlive = false;
        // A connection of HTTP/2 has other requests too.
        if (incoming.httpVersionMajor === 1) holdBack(incoming.socket);
        resolve(reader.end());
      })
      .once('end', () => resolve(reader.end()))
      .once('error', () => resolve(undefined));
  });
}

function bodyWasRead(): HttpError {
  return new HttpError(
    500,
    'INTERNAL_SERVER_ERROR',
    'The request body was already read: mount the gateway before body parsers.',
  );
}

function toRequest(
  incoming: IncomingMessage,
  body: HttpRequest['body'],
  signal: AbortSignal,
): HttpRequest {
  const { method = 'GET', url = '/' } = incoming;
  const target = url.startsWith('/') ? url : pathOfAddress(url);
  const mark = target.indexOf('?');
  return {
    method,
    path: mark < 0 ? target : target.slice(0, mark),
    search: mark < 0 ? '' : target.slice(mark + 1),
    headers: headersOf(incoming),
    body,
    mayStream: incoming.httpVersionMinor > 0,
    signal,
  };
}

/** The path of a request target that is a whole address (RFC 9112, section 3.2.2). */
function pathOfAddress(target: string): string {
  const url = URL.parse(target);
  return url === null ? '/' : url.pathname + url.search;
}

/** Of several Authorization headers Node keeps the first only; a second one must be seen. */
function headersOf({ headers, rawHeaders }: IncomingMessage): RequestHeaders {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      values.push(rawHeaders[index + 1] ?? '');
    }
  }
  // Only Set-Cookie is ever an array, and no request has it.
  const joined = headers as RequestHeaders;
  return values.length < 2 ? joined : { ...joined, authorization: values.join(', ') };
}

function write(
  { status, headers, body }: HttpResponse,
  outgoing: ServerResponse,
): Promise<void> | void {
  if (status === 204 || status === 304) return void outgoing.writeHead(status, headers).end();
  if (isInParts(body)) return writeParts(status, headers, body, outgoing);
  const length = Buffer.byteLength(body);
  headers['content-length'] = String(length);
  outgoing.writeHead(status, headers);
  // A text of as many bytes as characters is ASCII, which Node writes faster as Latin-1.
  const isAscii = typeof body === 'string' && length === body.length;
  outgoing.end(body, isAscii ? 'latin1' : 'utf8');
  // Bytes that are no text are shared by all.
  return closeUnread(outgoing, typeof body === 'string' ? outgoing.writableLength : 0);
}

/** Pulls each part when the client has read enough of those before it. */
async function writeParts(
  status: number,
  headers: HttpResponse['headers'],
  parts: BodyParts,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.writeHead(status, headers);
  for await (const part of parts) {
    if (outgoing.destroyed) return;
    if (outgoing.write(part)) continue;
    const stopCounting = countUnread(outgoing, outgoing.writableLength);
    // A limit in total, not between reads: the request holds its slot meanwhile.
    const timer = setTimeout(() => outgoing.destroy(), readTimeoutMs);
    await Promise.race([drainOrClose(outgoing), parts.finished]);
    clearTimeout(timer);
    stopCounting();
  }
  if (outgoing.destroyed) return;
  outgoing.end();
  closeUnread(outgoing, outgoing.writableLength);
}

function drainOrClose(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      outgoing.off('drain', settle).off('close', settle);
      resolve();
    };
    outgoing.on('drain', settle).on('close', settle);
  });
}

/** Drops the response if its client reads nothing for a while. */
function closeUnread(outgoing: ServerResponse, bytes: number): void {
  if (outgoing.writableLength === 0) return;
  outgoing.once('close', countUnread(outgoing, bytes));
  outgoing.setTimeout(readTimeoutMs, () => outgoing.destroy());
}

/** What texts of responses that their clients have not read take together, in bytes. */
let unreadBytes = 0;

/** Counts text that a client has not read, until the function that it returns is called. */
function countUnread(outgoing: ServerResponse, bytes: number): () => void {
  unreadBytes += bytes;
  if (unreadBytes > maxUnreadBytes) outgoing.destroy();
  return () => {
    unreadBytes -= bytes;
  };
}
