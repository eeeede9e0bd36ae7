import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { createByteLimits } from '../../src/server/byte-limits.ts';
import { listen } from '../../src/server/listener/listen.ts';
import { quiet } from '../support/log.ts';

const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

it('accepts new connections between the requests on others', async () => {
  const acceptedAtStart: number[] = [];
  await using server = await startServer(() => acceptedAtStart.push(server.accepted()));
  const old = await server.open(64);
  await server.openDuring(64, () => {
    for (const socket of old) socket.write(request);
  });
  await vi.waitFor(() => expect(acceptedAtStart).toHaveLength(64));
  // Two requests start for each connection.
  expect(acceptedAtStart.at(-1)).toBeGreaterThanOrEqual(64 + 30);
});

it('then starts the requests that have waited in groups', async () => {
  const startsPerTurn = new Map<number, number>();
  let turn = 0;
  let counter = setImmediate(function count() {
    turn++;
    counter = setImmediate(count);
  });
  await using server = await startServer(() => {
    startsPerTurn.set(turn, (startsPerTurn.get(turn) ?? 0) + 1);
  });
  const old = await server.open(400);
  await server.openDuring(32, () => {
    for (const socket of old) socket.write(request);
  });
  const starts = () => [...startsPerTurn.values()];
  await vi.waitFor(() => expect(starts().reduce((sum, one) => sum + one, 0)).toBe(400));
  clearImmediate(counter);
  expect(Math.max(...starts())).toBe(64);
});

/** Starts a server that calls `onStart` when it starts a request. */
async function startServer(onStart: () => void) {
  let accepted = 0;
  const count = () => void accepted++;
  subscribe('net.server.socket', count);
  const listener = await listen(
    async () => {
      onStart();
      return { status: 200, headers: {}, body: 'done' };
    },
    createByteLimits(quiet.metrics),
    { host: '127.0.0.1', port: 0 },
  );
  const { port } = new URL(listener.url);
  const sockets: Socket[] = [];
  const connectAll = (length: number) => {
    const opened = Array.from({ length }, () => connect(Number(port), '127.0.0.1').resume());
    sockets.push(...opened);
    return opened;
  };
  return {
    accepted: () => accepted,
    /** Opens connections, and waits until they are accepted. */
    async open(length: number) {
      const before = accepted;
      const opened = connectAll(length);
      for (const socket of opened) await once(socket, 'connect');
      await vi.waitFor(() => expect(accepted).toBe(before + length));
      return opened;
    },
    /** Opens connections, and calls `task` when the first of them is accepted. */
    async openDuring(length: number, task: () => void) {
      const before = accepted;
      connectAll(length);
      await vi.waitFor(() => expect(accepted).toBeGreaterThan(before), { interval: 0 });
      task();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      unsubscribe('net.server.socket', count);
      await listener.close(0);
    },
  };
}
