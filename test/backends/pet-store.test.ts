import { describeOnEveryDatabase } from '../support/databases.ts';
import { owning } from '../support/dispose.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { openWriter } from '../support/writes.ts';
import { describeIdempotentWrites } from './describe-idempotent-writes.ts';
import { describePetStore } from './describe-pet-store.ts';

describeOnEveryDatabase('the built-in backend', (createDatabase) => {
  const open = async () => {
    const petStore = await openBuiltin(await createDatabase());
    return { petStore, ...owning(petStore) };
  };
  describePetStore('the backend', open);
  describeIdempotentWrites('the backend', open);
});

const openOverRest = async () => {
  const service = await startGateway();
  const env = { MESSAGES_BASE_URL: `${service.url}/quickstart`, UPSTREAM_TIMEOUT_MS: '20000' };
  const { petStore } = await openWriter(service.url, env);
  return {
    petStore,
    ...owning(petStore, service),
  };
};

describePetStore('REST backend → /v1 → SQLite', openOverRest);
describeIdempotentWrites('REST backend → /v1 → SQLite', openOverRest);
