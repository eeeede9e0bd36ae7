import { openPetStore } from '../../src/backends/open.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { describePetStore } from './describe-pet-store.ts';

describePetStore('SQLite', async () => {
  const petStore = await openBuiltin();
  return { petStore, [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose]() };
});

describePetStore('REST over /v1 over SQLite', async () => {
  const service = await startGateway();
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
