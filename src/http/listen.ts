import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { lstat, unlink } from 'node:fs/promises';
import { createServer as createHttpServer, type ServerOptions } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, Server } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import type { RequestServer } from '../request/gateway-request.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Connections } from './connections.ts';
import { createNodeListener } from './node.ts';

/** Where to listen. */
export interface ListenOptions {
  /** A host name, an address, or a Unix domain socket such as `unix:/run/gateway.sock?mode=660`. */
  readonly host: string;
  /** 0 for any free port. Not used with a socket. */
  readonly port: number;
  /** The certificate and its key to serve HTTPS with; undefined for HTTP. */
  readonly tls?: SecureContextOptions | undefined;
  /** How long a connection may stay idle, in milliseconds. */
  readonly keepAliveTimeoutMs?: number;
  /** The most open connections; 5,000 by default, or what the process's limit of open files allows. */
  readonly maxConnections?: number;
  /** Where connections are counted. */
  readonly metrics?: Metrics;
}

/** A listening HTTP server. */
export type Listener = Awaited<ReturnType<typeof listen>>;

/** The most connections that wait to be accepted. Beyond it, a client tries again after a second. */
const backlog = 2048;

/** How long a connection may stay idle while the server closes, in milliseconds. */
const idleWhileClosingMs = 3000;

/** The fraction of the grace period after which responses in parts receive their last part. */
const fractionForParts = 0.9;

/** Documented options of Node's server; times in milliseconds. */
const serverOptions: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 500,
  maxHeaderSize: 16 * 1024,
  // Node keeps only the first Host header by default. Joined, a duplicate fails the Host check.
  joinDuplicateHeaders: true,
  requireHostHeader: true,
  // Halves the time that pipelined GETs of a connection take which is closed.
  optimizeEmptyRequests: true,
};

/** Node's ciphers without those that lack forward secrecy. */
const ciphers = `${DEFAULT_CIPHERS}:!kRSA`;

/** How long a client may take for the TLS handshake, in milliseconds. */
const tlsOptions = { handshakeTimeout: 5000, ALPNProtocols: ['http/1.1'], ciphers };

/** Serves a handler over HTTP/1.1 or HTTPS. @throws the listen error, such as EADDRINUSE. */
export async function listen(
  gateway: RequestServer,
  {
    host,
    port,
    tls,
    keepAliveTimeoutMs = 75_000,
    metrics,
    maxConnections = connectionLimit(),
  }: ListenOptions,
) {
  const secured = tls && createHttpsServer({ ...serverOptions, ...tlsOptions, ...tls });
  const server = secured ?? createHttpServer(serverOptions);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  const connections = new Connections(maxConnections, metrics);
  // node:cluster calls it, too, when a worker disconnects: Node's own would close connections on
  // which a request may be arriving, and reset those that it has not accepted.
  server.close = (onClosed) => {
    connections.portClosed ??= allAccepted(server);
    connections.portClosed.then(() => Server.prototype.close.call(server, onClosed));
    return server;
  };
  const onRequest = createNodeListener(gateway, connections);
  server
    .on('connection', (socket) => connections.add(socket))
    .on('secureConnection', (socket) => connections.secure(socket))
    .on('request', onRequest)
    // An unknown Expect header may be ignored.
    .on('checkExpectation', onRequest)
    .on('timeout', connections.closeInactive);
  const place = await open(server, host, port);
  return {
    /** The base address, such as `http://127.0.0.1:4000` or, as in nginx, `http://unix:/run/x.sock:`. */
    url: `${tls ? 'https' : 'http'}://${place}`,
    /** Uses another certificate for further connections. */
    setCertificate: (next: SecureContextOptions) => secured?.setSecureContext({ ...next, ciphers }),
    /**
     * Stops listening, lets requests in flight finish for `graceMs`, then closes their connections.
     * Responses in parts receive their last part before that. Connections that wait to be accepted are,
     * so that the system resets none but those that arrive as the port closes.
     */
    async close(graceMs: number) {
      const closed = new Promise((resolve) => server.close(resolve));
      await connections.portClosed;
      server.keepAliveTimeout = idleWhileClosingMs;
      const endParts = () => {
        for (const parts of gateway.streams) parts.end();
      };
      const timers = [
        setTimeout(() => server.closeIdleConnections(), idleWhileClosingMs),
        setTimeout(endParts, graceMs * fractionForParts),
        setTimeout(() => connections.closeAll(), graceMs),
      ];
      await closed;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Listens on a port or a Unix domain socket. @returns its place in an address. */
async function open(server: Server, host: string, port: number): Promise<string> {
  const unix = unixSocketOf(host);
  const target = unix ? { path: unix.path } : { port, host };
  await once(server.listen({ ...target, backlog }), 'listening');
  // Waits for nothing: until `listen` resolves, a signal would drop the first requests.
  if (unix?.mode !== undefined) chmodSync(unix.path, unix.mode);
  if (unix) return `unix:${unix.path}:`;
  const { address, family, port: opened } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${opened}`;
}

/** In milliseconds. `quiet` is how long no connection is accepted before the port closes. */
const closing = { quiet: 20, impatientAfter: 300, impatientQuiet: 1, end: 1000 } as const;

/**
 * Resolves when every opened connection has been accepted: closing the port resets the others. Clients
 * open connections in bursts, for example when another process on the same port has closed it and
 * responded. It sleeps between its looks: the system interrupts a process that is always busy in
 * favour of clients that wake up, perhaps between its last look and the end of the port.
 */
async function allAccepted(server: Server): Promise<void> {
  const start = performance.now();
  const elapsed = () => performance.now() - start;
  let accepted = 0;
  server.on('connection', () => accepted++);
  let before: number;
  do {
    before = accepted;
    await wait(elapsed() < closing.impatientAfter ? closing.quiet : closing.impatientQuiet);
    // Accepts what has arrived while the timer was late.
    await turn();
  } while (accepted > before && elapsed() < closing.end);
}

/** The most connections to the public port; an idle one takes about 20 kB. */
const maxConnections = 5000;

/** Open files that are none of these: 256 connections to services, 100 to the admin port, and the database's. */
const reserve = 400;

/** Returns the most connections that this process's limit of open files allows. Warns if they are fewer than usual. */
export function connectionLimit(log?: Log): number {
  const report: { userLimits?: Record<string, { soft: unknown }> } = process.report.getReport();
  const openFiles = report.userLimits?.['open_files']?.soft;
  if (typeof openFiles !== 'number') return maxConnections;
  const left = Math.max(openFiles - reserve, Math.floor(openFiles / 2));
  if (left >= maxConnections) return maxConnections;
  const message = `the limit of open files allows fewer than ${maxConnections} connections: raise LimitNOFILE or ulimit -n`;
  log?.warn({ openFiles, maxConnections: left }, message);
  return left;
}

/** Parses `unix:/run/gateway.sock?mode=660` to path and mode; undefined for any other host. */
export function unixSocketOf(host: string) {
  const [, path, mode] = /^unix:([^?]+)(?:\?mode=([0-7]{3}))?$/.exec(host) ?? [];
  return path === undefined ? undefined : { path, mode };
}

/** Removes the socket file that a killed process has left. Call it before any process listens. */
export async function removeStaleSocket(host: string): Promise<void> {
  const unix = unixSocketOf(host);
  if (unix === undefined) return;
  const file = await lstat(unix.path).catch(() => undefined);
  if (!file?.isSocket()) return;
  const socket = connect(unix.path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') await unlink(unix.path);
  } finally {
    socket.destroy();
  }
}
