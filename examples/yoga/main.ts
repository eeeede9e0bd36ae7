import type { AddressInfo } from 'node:net';
import { openServer } from './server.ts';

const server = await openServer(process.env);
server.listen(Number(process.env['PORT'] || 4000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`GraphQL  http://127.0.0.1:${port}/graphql\n`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => server.close());
}
