import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toRequest, writeResponse } from './exchange.ts';
import type { Gateway } from './gateway.ts';

/** Where to listen; port 0 takes a free one. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
}

/** A listening HTTP server. */
export interface Listener {
  /** Its address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Accepts nothing more, lets requests in flight finish for `graceMs`, then cuts them off. */
  close(graceMs: number): Promise<void>;
}

/** Serves a gateway over HTTP/1.1. @throws the listen error, such as EADDRINUSE. */
export async function listen(gateway: Gateway, options: ListenOptions): Promise<Listener> {
  const server = createServer(
    // A second Authorization header is joined to the first, so that it can be seen and refused.
    { joinDuplicateHeaders: true },
    (incoming, outgoing) => {
      if (isHost(incoming.headers.host)) void answer(gateway, incoming, outgoing);
      else refuseHost(incoming, outgoing);
    },
  );
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    async close(graceMs) {
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      try {
        await new Promise((resolve) => server.close(resolve));
      } finally {
        clearTimeout(force);
      }
    },
  };
}

async function answer(gateway: Gateway, incoming: IncomingMessage, outgoing: ServerResponse) {
  const client = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) client.abort();
  });
  try {
    await writeResponse(await gateway(await toRequest(incoming, client.signal)), outgoing);
  } catch {
    // Only a client that left before its request was complete ends here: the gateway never throws.
    outgoing.destroy();
  }
}

/** A host and a port (RFC 9110, section 7.2). Whatever builds a URL of it must not throw. */
function isHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host);
}

function refuseHost(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  const body = { code: 'bad_host', message: 'The Host header is malformed.', status: 400 };
  outgoing
    .writeHead(400, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(body));
}
