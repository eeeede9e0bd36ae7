import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/**
 * What a faulty service does with a request that has arrived whole, and began with this text;
 * `attempt` counts from 1.
 */
export type Play = (socket: Socket, attempt: number, request: string) => void;

/** A TCP server that reads HTTP requests and answers each with whatever bytes it is told to. */
export async function startFaultServer(play: Play) {
  const sockets = new Set<Socket>();
  let attempts = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
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
      play(socket, attempts, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attempts: () => attempts,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An HTTP/1.1 answer with a JSON body, whose length is told unless the headers say otherwise. */
export function answer(status: string, body: string | Buffer, headers: readonly string[] = []) {
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
