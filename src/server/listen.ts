import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as TcpServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { isJsonType } from '../http/body.ts';
import { endOfTurn } from '../http/end-of-turn.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { readBody, textOf, toRequest, writePlain, writeResponse } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { isHost } from './host.ts';
import { type OverloadLimits, openOverloadGuard } from './overload.ts';
import { refuse, refuseHost } from './refuse.ts';

/** Where to listen, and how much to take in. */
export interface ListenOptions extends OverloadLimits {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** A listening HTTP server. */
export interface Listener {
  /** Its address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Accepts nothing more, lets requests in flight finish for `graceMs`, then cuts them off. */
  close(graceMs: number): Promise<void>;
}

const serverOptions = {
  // A second Authorization header is joined to the first, so that it can be seen and refused.
  joinDuplicateHeaders: true,
  // How long a client may take to send its headers, and its whole request, in milliseconds.
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  // Longer than the minute that load balancers keep an idle connection: they close it, not we, so
  // that no request meets a connection that is being closed.
  keepAliveTimeout: 75_000,
} as const;

/** How long a client may leave its answer lying, in milliseconds. */
const readTimeoutMs = 30_000;

/** How long a connection may stay idle while the server closes, in milliseconds. */
const idleMs = 3000;

/** Serves a gateway over HTTP/1.1. @throws the listen error; where the port is taken, with what to do. */
export async function listen(
  gateway: Gateway,
  options: ListenOptions,
  { log, metrics }: Pick<Telemetry, 'log' | 'metrics'>,
): Promise<Listener> {
  const guard = openOverloadGuard(options);
  let closing = false;

  async function answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    onClosed?: () => void,
  ): Promise<void> {
    const client = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) client.abort();
      onClosed?.();
    });
    try {
      const { method, headers } = incoming;
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const body = hasBody ? await readBody(incoming) : undefined;
      const text = gateway.post && isPlainPost(incoming) ? textOf(body) : undefined;
      const plain = text && gateway.post?.(text, headers as Headers, client.signal);
      if (plain) {
        const answered = await plain;
        await endOfTurn();
        if (closing) outgoing.shouldKeepAlive = false;
        writePlain(answered, outgoing);
      } else {
        const response = await gateway(toRequest(incoming, body, client.signal));
        if (closing) outgoing.shouldKeepAlive = false;
        await writeResponse(response, outgoing);
      }
      // What the system has taken whole waits for nobody.
      if (outgoing.writableLength > 0) {
        outgoing.setTimeout(readTimeoutMs, () => outgoing.destroy());
      }
    } catch (error) {
      if (incoming.errored || client.signal.aborted) return;
      log.error({ err: error }, 'a request could not be answered');
      refuse(incoming, outgoing, 500, 'INTERNAL_SERVER_ERROR', 'Something went wrong here.');
    }
  }

  const server = createServer(serverOptions, (incoming, outgoing) => {
    if (!isHost(incoming.headers.host)) {
      return refuseHost(incoming, outgoing);
    }
    if (isHealthCheck(incoming)) return answer(incoming, outgoing);
    if (!guard.enter()) {
      metrics.refused();
      outgoing.setHeader('retry-after', '1');
      return refuse(incoming, outgoing, 503, 'OVERLOADED', 'Too busy. Try again in a second.');
    }
    // Until its answer is sent or its client has left, a request counts as in flight.
    return answer(incoming, outgoing, guard.leave);
  });

  try {
    server.listen(options.port, options.host);
    await once(server, 'listening');
  } catch (error) {
    guard[Symbol.dispose]();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    const advice =
      'End what listens there, or set PORT or ADMIN_PORT to another; 0 takes a free one.';
    throw new Error(`${message}. ${advice}`, { cause: error });
  }
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    async close(graceMs) {
      closing = true;
      await nobodyWaits(server);
      const idle = setInterval(() => server.closeIdleConnections(), idleMs);
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      try {
        // Not http's own close(), which cuts off idle connections too: on one that a load balancer
        // keeps, a request may be on its way. The answer to it says that it was the last.
        await new Promise((resolve) => TcpServer.prototype.close.call(server, resolve));
      } finally {
        clearInterval(idle);
        clearTimeout(force);
        guard[Symbol.dispose]();
      }
    },
  };
}

/**
 * Resolves when every connection that was opened has been accepted, or after a second of ever new
 * ones. Node accepts one a turn of its loop; a listener that closes resets those that still wait.
 */
async function nobodyWaits(server: TcpServer): Promise<void> {
  const end = performance.now() + 1000;
  let accepted = 1;
  server.on('connection', () => accepted++);
  // The turn that is under way may have had its one already.
  await turn();
  for (let before = 0; before < accepted && performance.now() < end; ) {
    before = accepted;
    await turn();
  }
}

/** Node's headers, of which only Set-Cookie is ever an array. */
type Headers = Readonly<Record<string, string | undefined>>;

function isPlainPost({ method, url, headers }: IncomingMessage): boolean {
  return method === 'POST' && url === '/graphql' && isJsonType(headers['content-type']);
}

function isHealthCheck({ url }: IncomingMessage): boolean {
  return url === '/livez' || url === '/readyz';
}
