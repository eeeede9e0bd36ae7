import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { valuesOf } from '../support/metrics.ts';
import { holdingOrders } from '../support/parts.ts';
import { connectTo, lastProbe, rawGet, rawPost, sendRaw, statusesOf } from '../support/raw-http.ts';

// These tests wait for deadlines of half a minute, so they run at the same time.

/** Opens connections that send nothing, or the beginning of a request. */
async function openSilent(url: string, count: number, sent = ''): Promise<DisposableStack> {
  const sockets = new DisposableStack();
  for (let index = 0; index < count; index++) {
    const socket = connectTo(url).resume();
    sockets.defer(() => socket.destroy());
    if (sent !== '') socket.write(sent);
    if (index % 100 === 99) await once(socket, 'connect');
  }
  return sockets;
}

it.each([
  ['nothing', ''],
  ['half of a request', rawPost('{}').slice(0, -1)],
])('serves new clients beside 5,000 connections that have sent %s, and those that wait', async (_, sent) => {
  const { petStore, release, called } = holdingOrders(await openBuiltin());
  await using service = await startGateway({ petStore });
  const { metrics } = service;
  const waiting = connectTo(service.url);
  waiting.write(rawPost('{"query":"{ orders }"}'));
  await called(1);
  using _silent = await openSilent(service.url, 4999, sent);
  const probe = async () => statusesOf(await sendRaw(service.url, lastProbe).catch(() => ''));
  // The first wait until the others have been silent for a second.
  await vi.waitFor(async () => expect(await probe()).toEqual([200]), { timeout: 8000 });
  const probes = await Promise.all(Array.from({ length: 30 }, probe));
  expect(probes).toEqual(Array(30).fill([200]));
  expect(await valuesOf(metrics, 'petstore_connections_displaced_total')).toEqual({ '': 50 });
  const { '': open } = await valuesOf(metrics, 'petstore_connections');
  expect(open).toBeGreaterThan(4900);
  release();
  const [response] = await once(waiting, 'data');
  expect(statusesOf(String(response))).toEqual([200]);
  waiting.destroy();
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

it.concurrent('closes the connection of a request that does not arrive in time', async () => {
  await using service = await startGateway();
  const slow = await Promise.all([
    sendRaw(service.url, 'POST /graphql HTTP/1.1\r\nHost: localhost\r\n'),
    sendRaw(service.url, rawPost('{}').slice(0, -1)),
    // Its rest is discarded until then.
    sendRaw(service.url, rawPost(' '.repeat(1_000_000)).slice(0, -1)),
  ]);
  expect(slow.map(statusesOf)).toEqual([[408], [408], [413]]);
  expect(service.logged).toEqual([]);
});
