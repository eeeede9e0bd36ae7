import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openBuiltin, startGateway } from '../../support/gateway.ts';

const authorization = 'Bearer demo-key';

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on('error', () => {});
}

it.concurrent('accepts 5,000 connections, and closes further ones', async () => {
  await using service = await startGateway();
  let closed = 0;
  const sockets: Socket[] = [];
  for (let index = 0; index < 5010; index++) {
    const socket = connectTo(service.url).once('close', () => closed++);
    sockets.push(socket);
    if (index % 100 === 99) await once(socket, 'connect');
  }
  await vi.waitFor(() => expect(closed).toBe(10), { timeout: 20_000 });
  const [first] = sockets;
  first?.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [response] = await once(first as Socket, 'data');
  expect(String(response)).toContain('200 OK');
  for (const socket of sockets) socket.destroy();
}, 60_000);

it.concurrent('closes the connection of a client that reads nothing for 30 seconds', async () => {
  const petStore = await openBuiltin();
  const page = [{ id: '1', name: 'x'.repeat(7_000_000), categoryId: '1' }];
  await using service = await startGateway({
    petStore: { ...petStore, listPets: async () => page },
    graphiql: true,
  });
  const requests = [
    `GET /graphql?query={pets{name}} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
    // The second part follows only after the first is read.
    `GET /graphql?query={pets{name}...@defer{orders}} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nAccept: multipart/mixed\r\n\r\n`,
    'GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n',
  ];
  const start = performance.now();
  const times: number[] = [];
  const onSocket = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort !== Number(new URL(service.url).port)) return;
    socket.once('close', () => times.push(performance.now() - start));
  };
  subscribe('net.server.socket', onSocket);
  onTestFinished(() => void unsubscribe('net.server.socket', onSocket));
  const clients: Socket[] = [];
  for (const request of requests) {
    const client = connectTo(service.url).pause();
    client.write(request);
    clients.push(client);
  }
  // Measured at the server, because a client that reads nothing does not notice the close.
  await vi.waitFor(() => expect(times).toHaveLength(requests.length), { timeout: 100_000 });
  for (const time of times) expect(time).toBeGreaterThan(29_000);
  for (const client of clients) client.destroy();
}, 120_000);
