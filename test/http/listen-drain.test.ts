import { Client } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { rawPost, sendRaw, statusesOf } from '../support/raw-http.ts';

// Idle connections stay open for three seconds.
describe.concurrent('a server that closes', () => {
  const open = async () => {
    const service = await startGateway();
    const client = new Client(service.url);
    let connections = 0;
    client.on('connect', () => connections++);
    return {
      service,
      connections: () => connections,
      async probe() {
        const { statusCode, headers, body } = await client.request({
          method: 'GET',
          path: '/livez',
        });
        await body.dump();
        return [statusCode, headers['connection']];
      },
      async [Symbol.asyncDispose]() {
        await client.destroy();
        await service[Symbol.asyncDispose]();
      },
    };
  };

  it('responds to a request on an idle connection with Connection: close', async () => {
    await using opened = await open();
    expect(await opened.probe()).toEqual([200, 'keep-alive']);
    const closed = opened.service.close(10_000);
    expect(await opened.probe()).toEqual([200, 'close']);
    expect(opened.connections()).toBe(1);
    await closed;
    await expect(opened.probe()).rejects.toThrow('ECONNREFUSED');
  });

  it('finishes all requests that are in flight on a connection', async () => {
    const petStore = await openBuiltin();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let calls = 0;
    const listOrders: typeof petStore.listOrders = (caller) => {
      calls++;
      return released.then(() => petStore.listOrders(caller));
    };
    await using service = await startGateway({ petStore: { ...petStore, listOrders } });
    const orders = rawPost('{"query":"{ orders }"}');
    const responses = sendRaw(service.url, orders + orders);
    await vi.waitFor(() => expect(calls).toBe(2));
    const closed = service.close(10_000);
    release();
    const received = await responses;
    expect(statusesOf(received)).toEqual([200, 200]);
    expect(received.match(/^connection: .*$/gim)).toEqual([
      'Connection: keep-alive',
      'connection: close',
    ]);
    await closed;
  });

  it('does not wait for connections that stay idle', async () => {
    await using opened = await open();
    await opened.probe();
    const began = performance.now();
    await opened.service.close(60_000);
    expect(performance.now() - began).toBeLessThan(50_000);
  });
});
