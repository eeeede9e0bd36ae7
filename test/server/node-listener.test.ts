import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createNodeListener } from '../../src/server/http/node.ts';

describe('a handler that rejects', () => {
  it.each([
    ['is answered with 500', false, 500],
    ['leaves a response alone that was sent before', true, 200],
  ])('%s, and the process lives', async (_, isAnswered, status) => {
    const listener = createNodeListener(() => Promise.reject(new Error('secret')));
    const server = createServer((incoming, outgoing) => {
      if (isAnswered) outgoing.end('sent');
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
