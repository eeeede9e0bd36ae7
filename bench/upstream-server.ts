import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { PetStatus } from '../src/petstore/records.ts';
import { createPets, orders } from './pets.ts';

// The REST service that every measured server calls, in its own process. It shares a core with the
// load, so it does as little as possible: each response is encoded once and cached as bytes.
const responses = new Map<string, Buffer>();
const unauthorized = encode('401 Unauthorized', {
  code: 'no_key',
  message: 'No key.',
  status: 401,
});
const stats = { requests: 0, authorization: '' };

const server = createServer({ noDelay: true }, (socket) => {
  let received = '';
  socket.on('error', () => socket.destroy());
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    // Every request is a GET, which ends after its headers.
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      socket.write(respondTo(received.slice(0, end)));
      received = received.slice(end + 4);
    }
  });
});

function respondTo(head: string): Buffer {
  stats.requests++;
  stats.authorization = /\r\nauthorization: ([^\r]*)/i.exec(head)?.[1] ?? '';
  if (!stats.authorization.startsWith('Bearer ')) return unauthorized;
  const target = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'));
  let response = responses.get(target);
  if (response === undefined) {
    response = encode('200 OK', read(new URL(target, 'http://upstream')));
    responses.set(target, response);
  }
  return response;
}

function read({ pathname, searchParams }: URL): unknown {
  if (pathname === '/v1/store/orders') return orders;
  const status = searchParams.get('status') as PetStatus | null;
  return createPets(Number(searchParams.get('limit') ?? 20), status ?? undefined);
}

function encode(status: string, json: unknown): Buffer {
  const body = JSON.stringify(json);
  return Buffer.from(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', () => process.send?.(stats));
process.once('disconnect', () => process.exit());
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
