import { once } from 'node:events';
import { Server } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { type BodyParts, type HttpHandler, isInParts } from '../../http/message.ts';
import { endOfTurn } from '../../limits/end-of-turn.ts';
import type { ByteLimits } from '../byte-limits.ts';
import { createNodeListener } from '../http/node.ts';
import { acceptFirst } from './accept-first.ts';
import { refuseMalformed } from './malformed.ts';
import { createPipelineQueues } from './pipeline-queues.ts';
import type { PausedError } from './unparsed-input.ts';

/** Where to listen. */
export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /**
   * Awaited before the port is closed; resolves when no other process holds it without accepting.
   */
  readonly waitForPortRelease?: (() => Promise<unknown>) | undefined;
}

/** A listening HTTP server. */
export interface Listener {
  /** The base address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /**
   * Stops listening, lets requests in flight finish for `graceMs`, then closes their connections.
   * Responses in parts receive their last part before that.
   */
  close(graceMs: number): Promise<void>;
}

const serverOptions = {
  // Node keeps only the first Host header by default. Joined, a duplicate fails the Host check.
  joinDuplicateHeaders: true,
  // The time limits for sending the headers and the whole request, in milliseconds.
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  // Load balancers close idle connections after a minute. If the gateway closed them first, a
  // request could arrive on a connection that is being closed.
  keepAliveTimeout: 75_000,
} as const;

/** The most open connections; an idle one takes about 20 kB. Further ones are closed on arrival. */
const maxConnections = 5000;

/**
 * The most connections that the kernel holds until they are accepted. Beyond it, a client tries
 * again after a second. Each costs those behind it a turn of the event loop, even if its client has
 * left.
 */
const backlog = 2048;

/** A response of this many characters or bytes is written immediately, smaller ones in batches. */
const largeLength = 64 * 1024;

/** How long a connection may stay idle while the server closes, in milliseconds. */
const idleMs = 3000;

/** The share of the grace period after which responses in parts receive their last part. */
const shareForParts = 0.9;

/**
 * Serves a handler over HTTP/1.1. @throws the listen error; for a port in use it includes advice.
 */
export async function listen(
  handle: HttpHandler,
  limits: ByteLimits,
  { host, port, waitForPortRelease }: ListenOptions,
): Promise<Listener> {
  const inParts = new Set<BodyParts>();
  const respond: HttpHandler = async (request) => {
    if (server.portClosed) await server.portClosed;
    const response = await handle(request);
    const { body } = response;
    if (isInParts(body)) {
      inParts.add(body);
      body.finished.then(() => inParts.delete(body));
    }
    // Large responses would accumulate until the end of the turn.
    else if (body.length < largeLength) await endOfTurn();
    if (server.portClosed) response.headers['connection'] = 'close';
    return response;
  };
  const queues = createPipelineQueues(serverOptions.requestTimeout, limits.unparsedBytes);
  const server = new DrainingServer(serverOptions);
  const afterAccepting = acceptFirst(server);
  const listener = createNodeListener(respond, limits.bodyBytes, (incoming, outgoing) =>
    afterAccepting(incoming.socket, queues.enqueue(incoming, outgoing)),
  );
  server.on('request', listener);
  server.waitForPortRelease = waitForPortRelease;
  // An unknown Expect header may be ignored. Node would respond to it before earlier requests.
  server.on('checkExpectation', listener);
  server.on('connection', queues.open);
  server.on('clientError', (error: NodeJS.ErrnoException & PausedError, socket: Socket) => {
    if (error.code === 'HPE_PAUSED') queues.keepUnparsed(error, socket);
    else refuseMalformed(error.code, socket, queues);
  });
  server.on('connect', (_, socket: Socket) => refuseMalformed(undefined, socket, queues));
  server.maxConnections = maxConnections;
  try {
    server.listen({ port, host, backlog });
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    const advice =
      'Stop the process that uses it, or set PORT or ADMIN_PORT to another port; 0 picks a free one.';
    throw new Error(`${message}. ${advice}`, { cause: error });
  }
  const bound = server.address() as AddressInfo;
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${name}:${bound.port}`,
    async close(graceMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      await server.portClosed;
      const idle = setInterval(() => server.closeIdleConnections(), idleMs);
      const end = () => {
        for (const parts of inParts) parts.end();
      };
      const endParts = setTimeout(end, graceMs * shareForParts);
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      try {
        await closed;
      } finally {
        clearInterval(idle);
        clearTimeout(endParts);
        clearTimeout(force);
      }
    },
  };
}

/**
 * A server whose `close` resets no connections; node:cluster calls it too when a worker
 * disconnects.
 */
class DrainingServer extends Server {
  /**
   * Resolves when the port is closed; undefined before `close`. Requests wait for it, because
   * clients open further connections after each response, and accepting would never catch up.
   */
  portClosed: Promise<void> | undefined;

  waitForPortRelease: ListenOptions['waitForPortRelease'];

  /**
   * Replaces http's own `close`, which also closes idle connections: a request may be on its way on
   * one that a load balancer keeps open. The response to it carries `Connection: close`.
   */
  override close(onClosed?: (error?: Error) => void): this {
    this.portClosed ??= Promise.resolve(this.waitForPortRelease?.()).then(() => allAccepted(this));
    this.portClosed.then(() => TcpServer.prototype.close.call(this, onClosed));
    return this;
  }
}

/** When the port closes while clients still connect, in milliseconds. */
const closing = {
  /** After this long without a new connection. */
  quiet: 20,
  /** This long after `close`, one turn of the event loop without a new connection is enough. */
  impatient: 300,
  /** This long after `close`, the port closes even if clients still connect. */
  end: 1000,
} as const;

/**
 * A turn counts as quiet only if it was this short, in milliseconds: others may hide new
 * connections.
 */
const shortTurnMs = 0.5;

/**
 * Resolves when every opened connection has been accepted: closing the port resets the others. Node
 * accepts one per turn of the event loop. Clients open connections in bursts, for example when
 * another process on the same port has closed it and responded, so one quiet turn may be in the
 * middle of one.
 */
async function allAccepted(server: TcpServer): Promise<void> {
  const start = performance.now();
  let lastAccepted = start;
  server.on('connection', () => {
    lastAccepted = performance.now();
  });
  // The current turn may have accepted its connection already.
  await turn();
  for (let now = performance.now(); now - start < closing.end; ) {
    const began = now;
    await turn();
    now = performance.now();
    const isQuiet = lastAccepted < began && now - began < shortTurnMs;
    const isImpatient = now - start >= closing.impatient;
    if (isQuiet && (isImpatient || now - lastAccepted >= closing.quiet)) return;
  }
}
