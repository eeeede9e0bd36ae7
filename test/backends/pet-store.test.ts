import { openPetStore } from '../../src/backends/open.ts';
import { loadConfig } from '../../src/config/config.ts';
import { describeOnEveryDatabase } from '../support/databases.ts';
import { openBuiltin, openKeys, startGateway } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { openRest } from '../support/rest-gateway.ts';
import { describeIdempotentWrites } from './describe-idempotent-writes.ts';
import { describePetStore } from './describe-pet-store.ts';

describeOnEveryDatabase('the built-in backend', (createDatabase) => {
  const open = async () => {
    const petStore = await openBuiltin(await createDatabase());
    return { petStore, [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose]() };
  };
  describePetStore('the backend', open);
  describeIdempotentWrites('the backend', open);
});

describeIdempotentWrites('REST backend → /v1 → SQLite', async () => {
  const service = await startGateway();
  const { backend } = loadConfig({
    PETSTORE_BASE_URL: `${service.url}/v1`,
    MESSAGES_BASE_URL: `${service.url}/quickstart`,
  });
  const petStore = await openPetStore(backend, quiet, openKeys());
  return {
    petStore,
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
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
