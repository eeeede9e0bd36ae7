import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer, type SecureContextOptions } from 'node:tls';
import type { BodyParts, HttpHandler } from '../../http/message.ts';
import { endOfTurn } from '../../limits/end-of-turn.ts';
import type { ByteLimits } from '../byte-limits.ts';
import { createNodeListener } from '../http/node.ts';
import { Connection, idleMs } from './connection.ts';
import { DrainingServer } from './draining-server.ts';
import { unixSocketOf } from './unix-socket.ts';

/** Where to listen. */
export interface ListenOptions {
  /** A host name, an address, or a Unix domain socket such as `unix:/run/gateway.sock?mode=660`. */
  readonly host: string;
  /** 0 for any free port. Not used with a socket. */
  readonly port: number;
  /** The certificate and its key to serve HTTPS with; undefined for HTTP. */
  readonly tls?: SecureContextOptions | undefined;
  /**
   * Awaited before the port is closed; resolves when no other process holds it without accepting.
   */
  readonly waitForPortRelease?: (() => Promise<unknown>) | undefined;
}

/** A listening HTTP server. */
export interface Listener {
  /** The base address, such as `http://127.0.0.1:4000` or, as in nginx, `http://unix:/run/x.sock:`. */
  readonly url: string;
  /** Uses another certificate for further connections. */
  setCertificate(tls: SecureContextOptions): void;
  /**
   * Stops listening, lets requests in flight finish for `graceMs`, then closes their connections.
   * Responses in parts receive their last part before that.
   */
  close(graceMs: number): Promise<void>;
}

/** The most open connections; an idle one takes about 20 kB. Further ones are closed on arrival. */
const maxConnections = 5000;

/**
 * The most connections that the kernel holds until they are accepted, one in each turn of the event
 * loop. Beyond it, a client tries again after a second.
 */
const backlog = 2048;

/** A response of this many characters or bytes is written immediately, smaller ones in batches. */
const largeLength = 64 * 1024;

/** How long a client may take for the TLS handshake, in milliseconds. */
const handshakeTimeout = 5000;

/** How often the deadlines of connections are checked, in milliseconds. */
const checkIntervalMs = 500;

/** How long a connection may stay idle while the server closes, in milliseconds. */
const idleWhileClosingMs = 3000;

/** The share of the grace period after which responses in parts receive their last part. */
const shareForParts = 0.9;

/** The status of the response to input that Node refuses; 400 for any other code. */
const statuses: Readonly<Record<string, number>> = {
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Serves a handler over HTTP/1.1, over TLS if it has a certificate. @throws the listen error, such as EADDRINUSE.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the events of one server share its connections.
export async function listen(
  handle: HttpHandler,
  limits: ByteLimits,
  { host, port, tls, waitForPortRelease }: ListenOptions,
): Promise<Listener> {
  const streams = new Set<BodyParts>();
  const connections = new Set<Connection>();
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    const connection = new Connection(socket, limits);
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
    http.emit('connection', connection);
  };
  // Never listens: it secures the connections that it is given.
  const secured =
    tls && createServer({ ...tls, handshakeTimeout, ALPNProtocols: ['http/1.1'] }, serve);
  secured?.on('tlsClientError', (_, socket) => socket.destroy());
  const server = new DrainingServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    if (secured) secured.emit('connection', socket);
    else serve(socket);
  });
  const respond = createNodeListener(
    async (request) => {
      if (server.portClosed) await server.portClosed;
      const response = await handle(request);
      const { body } = response;
      // Large responses would accumulate until the end of the turn.
      if (typeof body === 'string' && body.length < largeLength) await endOfTurn();
      if (server.portClosed) response.headers['connection'] = 'close';
      return response;
    },
    limits.bodyBytes,
    streams,
    ({ socket }) => (socket as Duplex as Connection).finish(),
  );
  // Never listens: it parses and writes messages on the connections that it is given.
  // Node keeps only the first Host header by default. Joined, a duplicate fails the Host check.
  const http = new Server({
    joinDuplicateHeaders: true,
    keepAliveTimeout: idleMs,
    // Node would respond itself, and what follows would be parsed.
    requireHostHeader: false,
  });
  const start = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const connection = incoming.socket as Duplex as Connection;
    const isHostless = incoming.httpVersionMinor > 0 && incoming.headers.host === undefined;
    if (isHostless) return connection.refuse(400);
    connection.start(outgoing);
    respond(incoming, outgoing);
  };
  http
    .on('request', start)
    // An unknown Expect header may be ignored.
    .on('checkExpectation', start)
    .on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
      (socket as Connection).refuse(statuses[code] ?? 400);
    })
    .on('connect', (_, socket) => (socket as Connection).refuse(400));
  server.waitForPortRelease = waitForPortRelease;
  server.maxConnections = maxConnections;
  const unix = unixSocketOf(host);
  const target = unix ? { path: unix.path } : { port, host };
  await once(server.listen({ ...target, backlog }), 'listening');
  if (unix?.mode !== undefined) await chmod(unix.path, unix.mode);
  const check = setInterval(() => {
    const now = performance.now();
    for (const connection of connections) connection.checkDeadline(now);
  }, checkIntervalMs);
  const place = unix ? `unix:${unix.path}:` : formatAddress(server.address() as AddressInfo);
  return {
    url: `${tls ? 'https' : 'http'}://${place}`,
    setCertificate: (next) => secured?.setSecureContext(next),
    async close(graceMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      await server.portClosed;
      for (const connection of connections) connection.closeIfIdle(idleWhileClosingMs);
      const endParts = setTimeout(() => {
        for (const parts of streams) parts.end();
      }, graceMs * shareForParts);
      const force = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      try {
        await closed;
      } finally {
        clearInterval(check);
        clearTimeout(endParts);
        clearTimeout(force);
      }
    },
  };
}

function formatAddress({ address, family, port }: AddressInfo): string {
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
