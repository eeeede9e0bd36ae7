import type { IncomingMessage, ServerResponse } from 'node:http';
import { Request } from '@whatwg-node/fetch';
import { maxBodyBytes } from '../http/body.ts';

/**
 * A Node request as a fetch `Request`, its body read whole and bounded. Of a body beyond the limit
 * only the count goes on, as Content-Length: whoever reads the body refuses it by that.
 * @throws when the client leaves before its body is complete.
 */
export async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', headers } = incoming;
  const url = `http://${headers.host}${pathOf(incoming.url ?? '/')}`;
  const init = { method, headers: headers as Record<string, string>, signal };
  if (method === 'GET' || method === 'HEAD') return new Request(url, init);
  const body = await readBody(incoming);
  if (typeof body !== 'number') return new Request(url, { ...init, body });
  return new Request(url, {
    ...init,
    headers: { ...init.headers, 'content-length': String(body) },
  });
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

/** The bytes of the body, or how many there were when they had become too many. */
function readBody(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer> | number> {
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
