import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openBuiltin, startGateway } from '../../support/gateway.ts';
import { holdingOrders } from '../../support/parts.ts';
import {
  connectTo,
  lastProbe,
  rawGet,
  rawPost,
  sendRaw,
  statusesOf,
} from '../../support/raw-http.ts';

// These tests wait for deadlines of half a minute, so they run at the same time.

it.concurrent('accepts 5,000 connections, and closes further ones', async () => {
  await using service = await startGateway();
  let closed = 0;
  const sockets: Socket[] = [];
  for (let index = 0; index < 5010; index++) {
    const socket = connectTo(service.url).once('close', () => closed++);
    sockets.push(socket);
    if (index % 100 === 99) await once(socket, 'connect');
  }
  await vi.waitFor(() => expect(closed).toBe(10), { timeout: 60_000 });
  const [first] = sockets;
  first?.write(rawGet('/livez'));
  const [response] = await once(first as Socket, 'data');
  expect(String(response)).toContain('200 OK');
  for (const socket of sockets) socket.destroy();
});

it.concurrent('closes the connection of a client that reads nothing for 30 seconds', async () => {
  const petStore = await openBuiltin();
  const page = [{ id: '1', name: 'x'.repeat(7_000_000), categoryId: '1' }];
  await using service = await startGateway({
    petStore: { ...petStore, listPets: async () => page },
    graphiql: true,
  });
  const query = (text: string) => JSON.stringify({ query: text });
  const requests = [
    rawPost(query('{ pets { name } }')),
    // The second part follows only after the first is read.
    rawPost(query('{ pets { name } ... @defer { orders } }'), 'Accept: multipart/mixed\r\n'),
    rawGet('/graphql', 'Accept: text/html\r\n'),
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
});

it.concurrent('responds with 408 to headers or a body that do not arrive in time, unless a request is queued', async () => {
  const { petStore, release, calls } = holdingOrders(await openBuiltin());
  await using service = await startGateway({ petStore });
  const orders = rawPost('{"query":"{ orders }"}');
  const queued = sendRaw(service.url, orders + rawPost(' '.repeat(200_000)) + lastProbe);
  const begun = connectTo(service.url);
  begun.write(orders + orders.slice(0, 20));
  const slow = await Promise.all([
    sendRaw(service.url, 'POST /graphql HTTP/1.1\r\nHost: localhost\r\n'),
    sendRaw(service.url, rawPost('{}').slice(0, -1)),
  ]);
  expect(slow.map(statusesOf)).toEqual([[408], [408]]);
  begun.write(orders.slice(20) + lastProbe);
  release();
  expect(statusesOf(await queued)).toEqual([200, 400, 200]);
  expect(statusesOf(await text(begun))).toEqual([200, 200, 200]);
  expect(calls()).toBe(3);
  expect(service.logged).toEqual([]);
});
