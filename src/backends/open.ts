import type { PetStore } from '../contract/pet-store.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { openAdministration as open } from './builtin/administration.ts';
import type { backUp as backUpFile } from './builtin/backup.ts';
import type { BuiltinPetStoreOptions } from './builtin/pet-store.ts';
import type { RestPetStoreOptions } from './rest/pet-store.ts';

export type { Administration } from './builtin/administration.ts';
export { demoKeys } from './builtin/demo-keys.ts';
export { maxLineBytes } from './builtin/import-line.ts';
export type { CreatedApiKey } from './builtin/stored-api-keys.ts';

/** The backend to open, with its options. */
export type BackendOptions =
  | ({ readonly kind: 'builtin' } & BuiltinPetStoreOptions)
  | ({ readonly kind: 'rest' } & RestPetStoreOptions & {
        /** The URL of the Redis server for writes with an idempotency key; in memory if undefined. */
        readonly idempotencyStore?: string | undefined;
      });

/** Opens the built-in backend's database for administration: accounts, keys, import and export. */
export const openAdministration: typeof open = async (...args) =>
  (await import('./builtin/administration.ts')).openAdministration(...args);

/** Backs up an SQLite database to a new file; see `builtin/backup.ts`. */
export const backUp: typeof backUpFile = async (...args) =>
  (await import('./builtin/backup.ts')).backUp(...args);

/**
 * Opens a backend and loads only its modules. No other module refers to specific backends. `reload` uses
 * these certificates for further connections, and throws if one can't be used.
 */
export async function openPetStore(
  options: BackendOptions,
  telemetry: Reporting,
  keys: ApiKeys,
): Promise<PetStore & { reload?(options: object): void }> {
  if (options.kind === 'builtin') {
    const { openBuiltinPetStore } = await import('./builtin/pet-store.ts');
    return openBuiltinPetStore(options, telemetry, keys);
  }
  const { idempotencyStore: url, timeoutMs } = options;
  const { openRestPetStore } = await import('./rest/pet-store.ts');
  const { rememberWrites } = await import('../writes/remembered-writes.ts');
  const store =
    url === undefined
      ? (await import('../writes/memory.ts')).openWriteMemory(keys, telemetry.metrics)
      : await (await import('../writes/redis.ts')).openWriteRedis(url, timeoutMs, telemetry);
  const petStore = openRestPetStore(options, telemetry, keys);
  const { baseUrl, messagesBaseUrl, honouring = 'off' } = options;
  const urlOf = (url?: URL) => `${url?.href.replace(/\/+$/, '')}`;
  return rememberWrites(petStore, store, {
    pets: { url: urlOf(baseUrl), carriesKey: ['on', 'pets'].includes(honouring) },
    messages: { url: urlOf(messagesBaseUrl), carriesKey: ['on', 'messages'].includes(honouring) },
  });
}
