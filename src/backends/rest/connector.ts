import type { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { ConnectionFailed } from './faults.ts';

/** Makes one connection to an origin; calls back with a `ConnectionFailed` when there is none. */
export type Connector = buildConnector.connector;

/**
 * Connections over HTTP/1.1 only. Over TLS undici would take HTTP/2 where it is offered, which sends
 * many calls over one connection, and repeats some of them, past the limits of the origin.
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
      // Before Node judges the certificate: it drops a connection whose certificate it rejects.
      (socket as TLSSocket).prependOnceListener('secure', () => {
        subject = subjectOf(socket as TLSSocket);
      });
    }
  };
}

/** Whom the certificate is for, such as `CN=pets.example, O=Pets`. */
function subjectOf(socket: TLSSocket): string {
  const { subject = {} } = socket.getPeerCertificate();
  return Object.entries(subject)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}
