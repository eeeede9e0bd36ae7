import { connect, createServer, type Socket } from 'node:net';
import { startServer } from './server.ts';

/**
 * Starts an address in front of a server on a port of this machine, as a load balancer or a managed service
 * has one. `lead` leads further connections to another server; those that are open stay.
 */
export async function startAddress(port: number | string) {
  const address = {
    to: Number(port),
    /** How many connections there were, and how many PINGs of Redis. */
    connections: 0,
    pings: 0,
    /** Gets each chunk of the server, and passes it on by default. */
    pass: (chunk: Buffer, client: Socket): unknown => client.write(chunk),
  };
  const server = await startServer(
    createServer((client) => {
      address.connections++;
      const service = connect(address.to, '127.0.0.1');
      client.on('data', (chunk: Buffer) => {
        if (chunk.includes('PING')) address.pings++;
      });
      client.on('close', () => service.destroy()).pipe(service);
      service.on('error', () => {}).on('close', () => client.destroy());
      service.on('data', (chunk: Buffer) => address.pass(chunk, client));
    }),
  );
  return Object.assign(address, {
    port: server.port,
    lead(next: number | string): void {
      address.to = Number(next);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}
