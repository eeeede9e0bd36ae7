import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Pool } from 'undici';
import type { Target } from './attack.ts';

/** A request of a flood; a POST of JSON to `/graphql` unless it says otherwise. */
export interface FloodRequest {
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST';
  readonly path?: string;
  /** With `authorization` in it, even an undefined one, these are all; else every other request has the key. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

/** How many requests a flood has, and over how many connections it sends them. */
export interface FloodSize {
  readonly connections: number;
  readonly requests: number;
}

/** Sends requests, over each connection the next when the one before it was answered, and reads the responses. */
export async function flood(
  { port, apiKey, signal, countRequest }: Target,
  { connections, requests }: FloodSize,
  make: (index: number) => FloodRequest,
): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  let next = 0;
  async function sendAll() {
    while (next < requests && !signal.aborted) {
      const index = next++;
      const { method = 'POST', path = '/graphql', headers = {}, body } = make(index);
      const key = 'authorization' in headers || index % 2 === 0 ? undefined : `Bearer ${apiKey}`;
      const own = { 'content-type': 'application/json', authorization: key, ...headers };
      countRequest();
      try {
        const response = await pool.request({
          method,
          path,
          headers: Object.fromEntries(Object.entries(own).filter(([, value]) => value)),
          body: body ?? null,
          signal,
        });
        await response.body.dump({ limit: Number.POSITIVE_INFINITY });
      } catch {
        // A refused connection or request is what the gateway may answer with.
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, sendAll));
  await pool.destroy();
}

/** The body of a GraphQL request. */
export function graphql(query: string, variables?: object): string {
  return JSON.stringify({ query, variables });
}

/** The bytes of a request with a body of JSON, for a socket. */
export function rawPost(
  body: string,
  { path = '/graphql', apiKey }: { readonly path?: string; readonly apiKey?: string } = {},
): string {
  return `${rawHead('POST', path, apiKey)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A request line with Host and a key, where the further headers follow. */
export function rawHead(method: string, path: string, apiKey?: string): string {
  const key = apiKey === undefined ? '' : `Authorization: Bearer ${apiKey}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${key}`;
}

/** How sockets are held. */
export interface HeldSockets {
  readonly count: number;
  /** Whether what arrives is read. */
  readonly reads: boolean;
  /** Writes the request, whole or in part; it may go on writing until the signal is aborted. */
  readonly begin: (socket: Socket, index: number) => void | Promise<void>;
}

/** Opens sockets, fifty at a time, and keeps them until the attack's time has passed. */
export async function holdSockets(target: Target, held: HeldSockets): Promise<void> {
  const { count, reads, begin } = held;
  const { port, signal, countRequest } = target;
  const sockets: Socket[] = [];
  const begun: unknown[] = [];
  let next = 0;
  async function openAll() {
    while (next < count && !signal.aborted) {
      const index = next++;
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {});
      if (reads) socket.resume();
      else socket.pause();
      try {
        await once(socket, 'connect', { signal });
        countRequest();
        begun.push(begin(socket, index));
      } catch {
        // Refused, or too late.
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(50, count) }, openAll));
  if (!signal.aborted) await once(signal, 'abort');
  await Promise.all(begun);
  for (const socket of sockets) socket.destroy();
}

/** Writes texts one after the other, each when the socket has taken the one before it. */
export async function writeAll(
  socket: Socket,
  texts: Iterable<string | Buffer>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const text of texts) {
      if (signal.aborted || socket.destroyed) return;
      if (!socket.write(text)) await once(socket, 'drain', { signal });
    }
  } catch {
    // The gateway closed the connection, or the time has passed.
  }
}
