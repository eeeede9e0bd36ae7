import { describeOnEveryDatabase } from '../support/databases.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { openRest } from '../support/rest-gateway.ts';
import { describePetStore } from './describe-pet-store.ts';

describeOnEveryDatabase('the built-in backend', (createDatabase) => {
  describePetStore('the backend', async () => {
    const petStore = await openBuiltin(await createDatabase());
    return { petStore, [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose]() };
  });
});

describePetStore('REST backend → /v1 → SQLite', async () => {
  const service = await startGateway();
  const petStore = openRest(service.url, { timeoutMs: 20_000 });
  return {
    petStore,
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
});
