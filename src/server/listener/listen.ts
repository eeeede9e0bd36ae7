import { once } from 'node:events';
import { Server } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { endOfTurn } from '../../end-of-turn.ts';
import { type BodyParts, type HttpHandler, isInParts } from '../../http/message.ts';
import { createNodeListener } from '../http/node.ts';
import { refuseMalformed } from './malformed.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** Where to listen. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Resolves when no process holds the port that does not accept: connections to it would be reset. */
  readonly released?: (() => Promise<unknown>) | undefined;
}

/** A listening HTTP server. */
export interface Listener {
  /** Its address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /**
   * Accepts nothing more, lets requests in flight finish for `graceMs`, then cuts them off. A response
   * in parts is ended before that, with a last part.
   */
  close(graceMs: number): Promise<void>;
}

const serverOptions = {
  // A second Host header is joined to the first, so that it can be seen and refused.
  joinDuplicateHeaders: true,
  // How long a client may take to send its headers, and its whole request, in milliseconds.
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  // Longer than the minute that load balancers keep an idle connection: they close it, not we, so
  // that no request meets a connection that is being closed.
  keepAliveTimeout: 75_000,
} as const;

/** The most connections at a time, about 20 kB each while they are idle; more are closed at once. */
const maxConnections = 5000;

/** From how many characters or bytes on a response is written at once. */
const largeLength = 64 * 1024;

/** How long a connection may stay idle while the server closes, in milliseconds. */
const idleMs = 3000;

/** The share of the grace after which responses in parts get their last one. */
const shareForParts = 0.9;

/** Serves a handler over HTTP/1.1. @throws the listen error; where the port is taken, with what to do. */
export async function listen(
  handle: HttpHandler,
  { host, port, released }: ListenOptions,
): Promise<Listener> {
  const inParts = new Set<BodyParts>();
  const answer: HttpHandler = async (request) => {
    if (server.portClosed) await server.portClosed;
    const response = await handle(request);
    const { body } = response;
    if (isInParts(body)) {
      inParts.add(body);
      body.finished.then(() => inParts.delete(body));
    }
    // Large ones would add up until then.
    else if (body.length < largeLength) await endOfTurn();
    if (server.portClosed) response.headers['connection'] = 'close';
    return response;
  };
  const turns = oneAtATime();
  const listener = createNodeListener(answer, turns.take);
  const server = new DrainingServer(serverOptions, listener);
  server.released = released;
  // Node answers what it does not expect by itself, out of turn; a server may ignore it.
  server.on('checkExpectation', listener);
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) =>
    refuseMalformed(code, socket, turns),
  );
  server.on('connect', (_, socket: Socket) => refuseMalformed(undefined, socket, turns));
  server.maxConnections = maxConnections;
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    const advice =
      'End what listens there, or set PORT or ADMIN_PORT to another; 0 takes a free one.';
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

/** Closes in order, for node:cluster too, which closes the servers of a worker by itself. */
class DrainingServer extends Server {
  /**
   * Settles when the port is closed; undefined while nobody has asked for it. Requests wait for it:
   * their clients open connections when they are answered, and accepting would never catch up.
   */
  portClosed: Promise<void> | undefined;

  released: ListenOptions['released'];

  /**
   * Not http's own, which cuts off idle connections too: on one that a load balancer keeps, a
   * request may be on its way. The response to it says that it was the last.
   */
  override close(onClosed?: (error?: Error) => void): this {
    this.portClosed ??= Promise.resolve(this.released?.()).then(() => nobodyWaits(this));
    this.portClosed.then(() => TcpServer.prototype.close.call(this, onClosed));
    return this;
  }
}

/**
 * How long no connection may have come before the port closes, in milliseconds; after how many one turn
 * of the event loop without any is enough; after how many the port closes though they still come.
 */
const closing = { quiet: 5, patience: 100, end: 1000 } as const;

/** How long the last turn may have taken, in milliseconds: in a longer one, connections may have come since. */
const shortTurnMs = 0.5;

/**
 * Resolves when every connection that was opened has been accepted. Node accepts one per turn of its
 * loop; a listener that closes resets those not yet accepted. Clients open them in bursts, such as when
 * another process that accepts at the same port has closed it and answered: one turn without any may be
 * in the middle of a burst.
 */
async function nobodyWaits(server: TcpServer): Promise<void> {
  const start = performance.now();
  let lastAccepted = start;
  server.on('connection', () => {
    lastAccepted = performance.now();
  });
  // The turn that is under way may have had its one already.
  await turn();
  for (let now = performance.now(); now - start < closing.end; ) {
    const began = now;
    await turn();
    now = performance.now();
    const isQuiet = lastAccepted < began && now - began < shortTurnMs;
    const isLate = now - start >= closing.patience;
    if (isQuiet && (isLate || now - lastAccepted >= closing.quiet)) return;
  }
}
