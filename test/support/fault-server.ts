import { createServer, type Socket } from 'node:net';
import { startServer } from './server.ts';

/**
 * Responds to a request, which has arrived completely. `request` is its text, and `attempt` counts
 * the requests from 1.
 */
export type Respond = (socket: Socket, attempt: number, request: string) => void;

/** Starts a TCP server that reads HTTP requests. `respond` writes the bytes of each response. */
export async function startFaultServer(respond: Respond) {
  let attempts = 0;
  const server = createServer((socket) => {
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      const request = received;
      received = '';
      attempts++;
      respond(socket, attempts, request);
    });
  });
  const started = await startServer(server);
  return {
    ...started,
    attempts: () => attempts,
    /** Refuses connections until `accept` is called. */
    refuse: () => server.close(),
    accept: () => server.listen(started.port, '127.0.0.1'),
  };
}

/**
 * Encodes an HTTP/1.1 response with a JSON body. `headers` replace Content-Type and Content-Length.
 */
export function encodeResponse(
  status: string,
  body: string | Buffer,
  headers: readonly string[] = [],
) {
  const all = ['Content-Type: application/json', ...headers];
  const own = headers.map((header) => header.split(':')[0]?.toLowerCase());
  if (own.includes('content-type')) all.shift();
  if (!own.includes('content-length') && !own.includes('transfer-encoding')) {
    all.push(`Content-Length: ${Buffer.byteLength(body)}`);
  }
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\n${all.join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
  ]);
}
