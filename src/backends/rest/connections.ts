import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { openTunnel, type ServiceProxy } from './proxy.ts';

/** Connecting failed, so nothing was sent. `cause` is the error of the connection. */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';
  /** The subject of a certificate that was rejected, such as `CN=pets.example, O=Pets`. */
  readonly certificateSubject: string | undefined;

  constructor(cause: Error, certificateSubject: string | undefined) {
    super('Connecting failed', { cause });
    this.certificateSubject = certificateSubject;
  }
}

/** Opens a connection to an origin; calls back with a `ConnectionFailed` if that fails. */
type Connector = buildConnector.connector;

/**
 * Creates a connector for HTTP/1.1 only. With HTTP/2, undici sends many calls over one connection
 * and repeats some of them, which bypasses the limits of the origin. Connects to a service with an
 * `https:` URL through a tunnel of the proxy, and otherwise to the proxy itself.
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
        (error) => callback(new ConnectionFailed(error, undefined), null),
      );
    }
  };
}

function createDirectConnector(timeoutMs: number, tls: SecureContextOptions): Connector {
  const connect = buildConnector({ ...tls, timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    let subject: string | undefined;
    const hostname = options.hostname.replace(/^\[|\]$/g, '');
    // undici's types hide that its connector returns the socket.
    const socket: unknown = connect({ ...options, hostname }, (...[error, connected]) => {
      if (error === null) callback(null, connected);
      else callback(new ConnectionFailed(error, subject), null);
    });
    if (options.protocol === 'https:') {
      // Read before Node verifies the certificate, because it closes the connection on failure.
      (socket as TLSSocket).prependOnceListener('secure', () => {
        const names = Object.entries((socket as TLSSocket).getPeerCertificate().subject ?? {});
        subject = names.map(([name, value]) => `${name}=${value}`).join(', ');
      });
    }
  };
}

/** undici's client, which holds one connection at a time. It gives itself to the handler of a call. */
export class TrackedClient extends Client {
  /** Whether its connection has delivered a complete response. */
  wasUsed = false;

  constructor(origin: URL, options: Client.Options) {
    super(origin, options);
    this.on('connect', () => {
      this.wasUsed = false;
    });
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler & { client?: TrackedClient | undefined },
  ): boolean {
    handler.client = this;
    return super.dispatch(options, handler);
  }
}
