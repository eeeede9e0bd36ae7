import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A listening server. Disposing of it also closes its connections. */
interface StartedServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT`, whatever the server speaks. */
  readonly url: string;
}

/** Starts a server on a free port. */
export async function startServer(server: Server): Promise<StartedServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
