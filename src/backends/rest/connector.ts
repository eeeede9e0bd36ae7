import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { ConnectionFailed } from './faults.ts';

/** Opens a connection to an origin; calls back with a `ConnectionFailed` if that fails. */
export type Connector = buildConnector.connector;

/**
 * Creates a connector for HTTP/1.1 only. With HTTP/2, undici sends many calls over one connection
 * and repeats some of them, which bypasses the limits of the origin.
 */
export function createConnector(timeoutMs: number): Connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    let subject: string | undefined;
    // undici's types hide that its connector returns the socket.
    const socket: unknown = connect(options, (...[error, connected]) => {
      if (error === null) callback(null, connected);
      else callback(new ConnectionFailed(error, subject), null);
    });
    if (options.protocol === 'https:') {
      // Read before Node verifies the certificate, because it closes the connection on failure.
      (socket as TLSSocket).prependOnceListener('secure', () => {
        subject = subjectOf(socket as TLSSocket);
      });
    }
  };
}

/** Returns the subject of the certificate, such as `CN=pets.example, O=Pets`. */
function subjectOf(socket: TLSSocket): string {
  const { subject = {} } = socket.getPeerCertificate();
  return Object.entries(subject)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}
