import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type SecureContextOptions, TLSSocket } from 'node:tls';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { CallSpan } from '../../contract/caller.ts';
import { openTunnel, type ServiceProxy } from './proxy.ts';

/** Connecting failed, so nothing was sent. `cause` is the error of the connection. */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';

  constructor(cause: Error) {
    super('Connecting failed', { cause });
  }
}

type Connector = buildConnector.connector;

/**
 * Creates a connector that fails with `ConnectionFailed`, for HTTP/1.1: with HTTP/2, undici repeats calls
 * and sends many over one connection, which bypasses the limits of the origin. Connects to a service
 * with an `https:` URL through a tunnel of the proxy, and otherwise to the proxy itself.
 */
export function createConnector(
  timeoutMs: number,
  tls: SecureContextOptions,
  proxy: ServiceProxy | undefined,
): Connector {
  const connect = createDirectConnector(timeoutMs, tls);
  if (proxy === undefined) return connect;
  const connectToProxy = createDirectConnector(timeoutMs, {});
  const { protocol, host, hostname, port } = proxy.url;
  return (options, callback) => {
    if (options.protocol === 'http:') connectToProxy({ protocol, host, hostname, port }, callback);
    else {
      openTunnel(proxy, options, timeoutMs).then(
        (httpSocket) => connect({ ...options, httpSocket }, callback),
        (error) => callback(new ConnectionFailed(error), null),
      );
    }
  };
}

function createDirectConnector(timeoutMs: number, tls: SecureContextOptions): Connector {
  const connect = buildConnector({ ...tls, timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, '');
    connect({ ...options, hostname }, (...[error, socket]) => {
      // undici would replace an alert of TLS by the end of the connection, which follows it.
      socket?.once('error', () => socket.destroy());
      if (error === null) callback(null, socket);
      else callback(new ConnectionFailed(error), null);
    });
  };
}

/**
 * Closes a connection once it is accepted, and rejects if it fails. In TLS 1.3, the alert that refuses a
 * client certificate follows the handshake; otherwise most services send a session ticket.
 */
export async function closeAccepted(socket: Socket): Promise<undefined> {
  const close = () => void socket.destroy();
  if (!(socket instanceof TLSSocket) || socket.getProtocol() !== 'TLSv1.3') close();
  socket.once('session', close).once('end', () => socket.destroy(new Error('Closed')));
  await once(socket.setTimeout(500, close).resume(), 'close');
}

/** Where undici publishes each request, to which instrumentation of a host adds headers. */
export const requestCreated = channel('undici:request:create');
type Created = { request: { headers: string[]; addHeader(...header: string[]): void } };

/**
 * undici's client, which holds one connection at a time. It gives itself to the handler of a call,
 * and closes a connection of more than `maxAgeMs` after its next call. (The pool's `clientTtl` reads
 * the clock for each busy connection at each call, which costs 3 to 10 µs: docs/performance.md.)
 */
export class TrackedClient extends Client {
  /** Whether its connection has delivered a complete response. */
  wasUsed = false;
  readonly #maxAgeMs: number;
  #openedAt = Number.POSITIVE_INFINITY;

  constructor(origin: URL, options: Client.Options, maxAgeMs: number) {
    super(origin, options);
    this.#maxAgeMs = maxAgeMs;
    this.on('connect', () => {
      this.wasUsed = false;
      this.#openedAt = performance.now();
    });
    // A call is dispatched before its connection opens.
    this.on('disconnect', () => {
      this.#openedAt = Number.POSITIVE_INFINITY;
    });
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler & {
      client?: TrackedClient | undefined;
      readonly details?: { readonly span: CallSpan | undefined };
    },
  ): boolean {
    handler.client = this;
    const isOld = performance.now() - this.#openedAt > this.#maxAgeMs;
    const trace = handler.details?.span?.headers ?? {};
    const sent = isOld ? { ...options, reset: true } : options;
    if (!requestCreated.hasSubscribers) return super.dispatch(sent, handler);
    // Receivers drop two lines of traceparent: the last subscriber adds one if no other has.
    const addTrace = (message: unknown) => {
      // Dispatching may dispatch another call.
      unsubscribe(requestCreated.name, addTrace);
      const { request } = message as Created;
      if (request.headers.includes('traceparent')) return;
      for (const header of Object.entries(trace)) request.addHeader(...header);
    };
    subscribe(requestCreated.name, addTrace);
    const hasRoom = super.dispatch(sent, handler);
    unsubscribe(requestCreated.name, addTrace);
    return hasRoom;
  }
}
