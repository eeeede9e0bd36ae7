import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createByteLimits } from '../../src/server/byte-limits.ts';
import { createPipelineQueues } from '../../src/server/listener/pipeline-queues.ts';
import { quiet } from '../support/log.ts';
import { countTurns } from '../support/turns.ts';

const head =
  'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';

it('is parsed for a millisecond per turn of the event loop if it contains bodies in chunks', async () => {
  // A clock on which a slice takes 0.6 ms, so that the number of slices does not depend on the machine.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 0.6));
  onTestFinished(() => void vi.restoreAllMocks());
  using counted = countTurns();
  const chunksPerTurn = new Map<number, number>();
  const queues = createPipelineQueues(15_000, createByteLimits(quiet.metrics).unparsedBytes);
  await using server = createServer((incoming, outgoing) => {
    queues.enqueue(incoming, outgoing);
    let size = 0;
    incoming.on('data', ({ length }: Buffer) => {
      size += length;
      chunksPerTurn.set(counted.turns, (chunksPerTurn.get(counted.turns) ?? 0) + 1);
    });
    incoming.on('end', () => outgoing.end(`received ${size}`));
  });
  server.on('connection', queues.open).on('clientError', queues.keepUnparsed);
  await once(server.listen(0), 'listening');
  const { port } = server.address() as AddressInfo;

  const body = `${head}${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`;
  const sockets = Array.from({ length: 20 }, () => connect(port));
  const responses = sockets.map(async (socket) => {
    socket.write(body);
    return text(socket);
  });
  for (const response of await Promise.all(responses)) expect(response).toContain('received 10000');
  const total = chunksPerTurn.values().reduce((sum, chunks) => sum + chunks, 0);
  expect(total).toBe(200_000);
  // Two slices of 2 KiB, and the last KiB of other bodies.
  expect(Math.max(...chunksPerTurn.values())).toBeLessThan(1500);
});
