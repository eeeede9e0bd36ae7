import { once } from 'node:events';
import { createServer } from 'node:http';
import * as http2 from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { BodyParts } from '../../../src/http/message.ts';
import { createByteLimits } from '../../../src/server/byte-limits.ts';
import { createNodeListener } from '../../../src/server/http/node.ts';
import { quiet } from '../../support/log.ts';

const { bodyBytes } = createByteLimits(quiet.metrics);

describe('a handler that rejects', () => {
  it.each([
    ['results in a 500', false, 500],
    ['does not change a response that was already sent', true, 200],
  ])('%s, and does not crash the process', async (_, isSent, status) => {
    const listener = createNodeListener(() => Promise.reject(new Error('secret')), bodyBytes);
    const server = createServer((incoming, outgoing) => {
      if (isSent) outgoing.end('sent');
      listener(incoming, outgoing);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('secret');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

/** An endless body in parts of 1 MiB. */
function endlessParts() {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const part = 'x'.repeat(1024 * 1024);
  let produced = 0;
  const parts: BodyParts = {
    next: async () => ({ value: `${++produced} ${part}`, done: false }),
    return: async () => {
      finish();
      return { value: undefined, done: true };
    },
    end: finish,
    [Symbol.asyncIterator]: () => parts,
  };
  return {
    response: { status: 200, headers: {}, body: '', parts },
    finished,
    produced: () => produced,
  };
}

describe('a body in parts', () => {
  it('is produced only as fast as the client reads, and cancelled when it disconnects', async () => {
    const { response, finished, produced } = endlessParts();
    const handle = async () => response;
    const server = createServer(createNodeListener(handle, bodyBytes)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(0));
    for (let turns = 0; turns < 200; turns++) await turn();
    const unread = produced();
    expect(unread).toBeLessThan(50);
    client.resume();
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(unread + 50), { timeout: 10_000 });
    client.destroy();
    await finished;
    await new Promise((resolve) => server.close(resolve));
  });

  it('is cancelled when its client leaves over HTTP/2', async () => {
    const { response, finished, produced } = endlessParts();
    const signals: AbortSignal[] = [];
    const listener = createNodeListener(async ({ signal }) => {
      signals.push(signal);
      return response;
    }, bodyBytes);
    // Node calls requests of HTTP/2 compatible with those of HTTP/1.1; their types differ.
    const server = http2.createServer(listener as never).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    session
      .request({ ':path': '/' })
      .on('error', () => {})
      .pause();
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(0));
    session.destroy();
    await finished;
    expect(signals[0]?.aborted).toBe(true);
    await new Promise((resolve) => server.close(resolve));
  });
});
