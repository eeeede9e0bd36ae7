import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Listens on a free port. Returns the address, and closes the server when disposed. */
export async function listen(server: ReturnType<typeof createServer>) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts a service with two pets. `respond` handles all other paths. */
export async function startService(respond: Respond) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    if (request.url !== '/v1/pets') return respond(request, response);
    response.end(
      '[{"id":1,"name":"Rex","categoryId":9007199254740993},{"id":2,"name":"Tom","categoryId":2}]',
    );
  });
  return { seen, ...(await listen(server)) };
}
