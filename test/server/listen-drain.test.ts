import { Client } from 'undici';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';

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

  it('does not wait for connections that stay idle', async () => {
    await using opened = await open();
    await opened.probe();
    await opened.service.close(600_000);
  });
});
