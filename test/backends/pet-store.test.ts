import { openPetStore } from '../../src/backends/open.ts';
import { describeOnEveryDatabase } from '../support/databases.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { describePetStore } from './describe-pet-store.ts';

describeOnEveryDatabase('the built-in backend', (createDatabase) => {
  describePetStore('the backend', async () => {
    const petStore = await openBuiltin(await createDatabase());
    return { petStore, [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose]() };
  });
});

describePetStore('REST backend → /v1 → SQLite', async () => {
  const service = await startGateway();
  const petStore = await openPetStore(
    {
      kind: 'rest',
      baseUrl: new URL(`${service.url}/v1`),
      messagesBaseUrl: new URL(`${service.url}/quickstart/`),
      timeoutMs: 20_000,
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
