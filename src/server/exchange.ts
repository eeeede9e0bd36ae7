import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Request } from '@whatwg-node/fetch';
import { maxBodyBytes } from '../http/body.ts';
import type { PlainAnswer } from './result.ts';

/**
 * A Node request as a fetch `Request`. Of a body beyond the limit only the count goes on, as
 * Content-Length: whoever reads the body refuses it by that.
 */
export function toRequest(
  incoming: IncomingMessage,
  body: Body | undefined,
  signal: AbortSignal,
): Request {
  const { method = 'GET' } = incoming;
  // Of several Authorization headers a server may have kept the first only; they must be seen.
  const authorizations = incoming.headersDistinct['authorization'] ?? [];
  const headers =
    authorizations.length > 1
      ? { ...incoming.headers, authorization: authorizations.join(', ') }
      : incoming.headers;
  const url = `http://${headers.host}${pathOf(incoming.url ?? '/')}`;
  const init = { method, headers: headers as Record<string, string>, signal };
  if (body === undefined) return new Request(url, init);
  if (typeof body !== 'number') return new Request(url, { ...init, body });
  return new Request(url, {
    ...init,
    headers: { ...init.headers, 'content-length': String(body) },
  });
}

/** Writes an answer whose body is a string. */
export function writePlain({ status, headers, body }: PlainAnswer, outgoing: ServerResponse): void {
  const length = Buffer.byteLength(body);
  headers['content-length'] = String(length);
  // A text of as many bytes as characters is ASCII, which Node writes faster as Latin-1.
  outgoing.writeHead(status, headers).end(body, length === body.length ? 'latin1' : 'utf8');
}

/** Writes a fetch `Response` whole, with its length, to a Node response that is still open. */
export async function writeResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  if (response.status !== 204 && response.status !== 304) {
    outgoing.setHeader('content-length', body.byteLength);
  }
  outgoing.end(body);
}

/** The path of a request target, which may be a whole address (RFC 9112, section 3.2). */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const url = URL.parse(target);
  return url === null ? '/' : url.pathname + url.search;
}

/** The bytes of a body, or how many there were when they had become too many. */
export type Body = Buffer<ArrayBuffer> | number;

/** Reads the body, bounded. @throws when the client leaves before it is complete. */
export function readBody(incoming: IncomingMessage): Promise<Body> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming
      .on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        // What is too much is still taken in and dropped, or the client would see its connection
        // break instead of the answer. The server's request timeout ends it.
        if (size > maxBodyBytes) resolve(size);
        else chunks.push(chunk);
      })
      .once('end', () => resolve(Buffer.concat(chunks, size)))
      .once('error', reject);
  });
}

/** The text of a body that is whole and UTF-8; undefined for any other. */
export function textOf(body: Body | undefined): string | undefined {
  if (body === undefined || typeof body === 'number' || !isUtf8(body)) return undefined;
  return body.toString('utf8');
}
