import { openPetStore } from '../../src/backends/open.ts';
import { createPostgresDatabase } from '../support/databases.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { describePetStore } from './describe-pet-store.ts';

const databases = {
  SQLite: async () => ':memory:',
  PostgreSQL: createPostgresDatabase,
};

for (const [name, createDatabase] of Object.entries(databases)) {
  describePetStore(name, async () => {
    const petStore = await openBuiltin(await createDatabase());
    return { petStore, [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose]() };
  });

  describePetStore(`REST backend → /v1 → ${name}`, async () => {
    const service = await startGateway({ petStore: await openBuiltin(await createDatabase()) });
    const petStore = await openPetStore(
      {
        kind: 'rest',
        baseUrl: new URL(`${service.url}/v1`),
        messagesBaseUrl: new URL(`${service.url}/quickstart/`),
        timeoutMs: 10_000,
      },
      quiet,
    );
    return {
      petStore,
      async [Symbol.asyncDispose]() {
        await petStore[Symbol.asyncDispose]();
        await service[Symbol.asyncDispose]();
      },
    };
  });
}
