import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, vi } from 'vitest';
import { listen } from '../../src/server/listener/listen.ts';

it('accepts new connections between the requests on others', async () => {
  let accepted = 0;
  const count = () => void accepted++;
  subscribe('net.server.socket', count);
  const acceptedAtStart: number[] = [];
  const listener = await listen(
    async () => {
      acceptedAtStart.push(accepted);
      return { status: 200, headers: {}, body: 'done' };
    },
    { host: '127.0.0.1', port: 0 },
  );
  const { port } = new URL(listener.url);
  const open = () => connect(Number(port), '127.0.0.1').resume();

  const old = Array.from({ length: 64 }, open);
  for (const socket of old) await once(socket, 'connect');
  await vi.waitFor(() => expect(accepted).toBe(64));
  const young = Array.from({ length: 64 }, open);
  await vi.waitFor(() => expect(accepted).toBeGreaterThan(64), { interval: 0 });
  for (const socket of old) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await vi.waitFor(() => expect(acceptedAtStart).toHaveLength(64));
  // Two requests start for each connection.
  expect(acceptedAtStart.at(-1)).toBeGreaterThanOrEqual(64 + 30);

  for (const socket of [...old, ...young]) socket.destroy();
  unsubscribe('net.server.socket', count);
  await listener.close(0);
});
