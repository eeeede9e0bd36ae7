import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Pool } from 'undici';
import type { Attack, Target } from './attack.ts';

/** A request of a flood; by default a POST of JSON to `/graphql`. */
export interface FloodRequest {
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST';
  readonly path?: string;
  /** Unless these contain `authorization`, even undefined, every second request has the key. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

/** What an attack needs of its gateway; by default one of a REST service. */
type Needs = Partial<Pick<Attack, 'backend' | 'settings'>>;

/**
 * Creates an attack that sends requests, one at a time over each connection, and reads the
 * responses. A text is the body of a request.
 */
export function floodOf(
  id: string,
  connections: number,
  make: (index: number) => string | FloodRequest,
  needs: Needs = {},
): Attack {
  const run = (target: Target) =>
    flood(target, connections, (index) => {
      const request = make(index);
      return typeof request === 'string' ? { body: request } : request;
    });
  return { id, backend: 'rest', ...needs, run };
}

async function flood(
  { port, apiKey, signal, countRequest }: Target,
  connections: number,
  make: (index: number) => FloodRequest,
): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  let next = 0;
  async function sendAll() {
    while (!signal.aborted) {
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
        // The gateway may refuse connections and requests.
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, sendAll));
  await pool.destroy();
}

/** Returns the body of a GraphQL request. */
export function graphql(query: string, variables?: object): string {
  return JSON.stringify({ query, variables });
}

/** Encodes a request with a JSON body. */
export function rawPost(
  body: string,
  { path = '/graphql', apiKey }: { readonly path?: string; readonly apiKey?: string } = {},
): string {
  return `${rawHead('POST', path, apiKey)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Encodes a request line with Host and a key, to which further headers can be appended. */
export function rawHead(method: string, path: string, apiKey?: string): string {
  const key = apiKey === undefined ? '' : `Authorization: Bearer ${apiKey}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${key}`;
}

/** Creates an attack that opens sockets and keeps them open. By default it reads responses. */
export function socketsOf(
  id: string,
  count: number,
  start: (target: Target) => HeldSockets['start'],
  { reads = true, ...needs }: Needs & { readonly reads?: boolean } = {},
): Attack {
  const run = (target: Target) => holdSockets(target, { count, reads, start: start(target) });
  return { id, backend: 'rest', ...needs, run };
}

/** How sockets are used and kept open. */
export interface HeldSockets {
  readonly count: number;
  /** Whether responses are read. */
  readonly reads: boolean;
  /** Writes the request or a part of it. It may continue until the signal is aborted. */
  readonly start: (socket: Socket, index: number) => void | Promise<void>;
}

/** Opens sockets, fifty at a time, and keeps them open for the duration of the attack. */
export async function holdSockets(target: Target, held: HeldSockets): Promise<void> {
  const { count, reads, start } = held;
  const { port, signal, countRequest } = target;
  const sockets: Socket[] = [];
  const started: unknown[] = [];
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
        started.push(start(socket, index));
      } catch {
        // Refused, or the duration has passed.
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(50, count) }, openAll));
  if (!signal.aborted) await once(signal, 'abort');
  await Promise.all(started);
  for (const socket of sockets) socket.destroy();
}

/** Writes texts one after the other, as fast as the socket accepts them. */
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
    // The gateway closed the connection, or the duration has passed.
  }
}
