import { connect, createServer, type Socket } from 'node:net';
import { startServer } from './server.ts';

/**
 * Starts an address in front of the server of a URL, as a load balancer or a managed service has one.
 * `lead` leads further connections to another server; those that are open stay.
 */
export async function startAddress(serverUrl: string) {
  const clients = new Set<Socket>();
  const address = {
    to: Number(new URL(serverUrl).port),
    /** How many connections there were, and how many PINGs of Redis. */
    connections: 0,
    pings: 0,
    /** Gets each chunk of a client, and passes it on by default. */
    send: (chunk: Buffer, service: Socket, _client: Socket): unknown => service.write(chunk),
    /** Gets each chunk of the server, and passes it on by default. */
    pass: (chunk: Buffer, client: Socket): unknown => client.write(chunk),
  };
  const server = await startServer(
    createServer((client) => {
      address.connections++;
      clients.add(client);
      const service = connect(address.to, '127.0.0.1');
      client
        .on('close', () => service.destroy())
        .on('data', (chunk: Buffer) => {
          if (chunk.includes('PING')) address.pings++;
          address.send(chunk, service, client);
        });
      service.on('error', () => {}).on('close', () => client.destroy());
      service.on('data', (chunk: Buffer) => address.pass(chunk, client));
    }),
  );
  return Object.assign(address, {
    port: server.port,
    /** The URL of the server, with this address. */
    url: Object.assign(new URL(serverUrl), { port: server.port }).href,
    lead(next: number | string): void {
      address.to = Number(next);
    },
    /** Closes all connections, and each new one immediately. */
    hangUp(): void {
      address.to = 1;
      for (const client of clients) client.destroy();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}
