import { createGateway, loadConfig } from 'petstore-gateway';
import { createCategories } from './categories.ts';
import { createFederation } from './gateway.ts';
import { listen } from './listen.ts';

// In production, each of the three is a process of its own.
const servers = new AsyncDisposableStack();
const gateway = servers.use(await createGateway(loadConfig(process.env)));
const petStore = servers.use(await listen(gateway.nodeListener));
const categories = servers.use(await listen(createCategories()));
const federation = servers.use(
  createFederation({ petStore: petStore.url, categories: categories.url }),
);
const { url } = servers.use(await listen(federation, Number(process.env['PORT'] || 4000)));
process.stdout.write(`GraphQL  ${url}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => servers.disposeAsync());
}
