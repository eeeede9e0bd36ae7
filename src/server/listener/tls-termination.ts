import type { Socket } from 'node:net';
import { createServer, type SecureContextOptions } from 'node:tls';

/** How long a client may take for the handshake, in milliseconds. */
const handshakeTimeout = 5000;

/** Passes accepted connections on to `accept` once they are encrypted. */
export function createTlsTermination(
  options: SecureContextOptions,
  accept: (socket: Socket) => void,
) {
  const sockets = new Set<Socket>();
  // Never listens: it secures the connections that it is given.
  const server = createServer(
    { ...options, handshakeTimeout, ALPNProtocols: ['http/1.1'] },
    accept,
  ).on('tlsClientError', (_, socket) => socket.destroy());
  return {
    /** Starts the handshake, and closes the connection if that fails or takes too long. */
    start(socket: Socket): void {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      server.emit('connection', socket);
    },
    /** Uses another certificate for further connections. */
    setCertificate: (next: SecureContextOptions) => server.setSecureContext(next),
    /** Closes all connections, also those whose handshake is not complete. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}
