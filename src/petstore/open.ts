import type { BuiltinOptions } from '../backends/builtin/backend.ts';
import type { backUp as backUpFile } from '../backends/builtin/backup.ts';
import { createDemoKeys } from '../backends/builtin/demo-keys.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { Log } from '../telemetry/log.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import { demoKeys as ownDemoKeys } from './builtin/demo.ts';
import { contract, type PetStore } from './operations.ts';
import type { RestPetStoreOptions } from './rest.ts';

export type { Administration } from '../backends/builtin/administration.ts';
export { maxLineBytes } from '../backends/builtin/import-line.ts';
export type { CreatedApiKey } from '../backends/builtin/stored-api-keys.ts';

/** The demo keys with a behaviour of their own, by key. */
export const demoKeys = createDemoKeys(ownDemoKeys);

/** The backend to open, with its options. */
export type BackendOptions =
  | ({ readonly kind: 'builtin' } & BuiltinOptions)
  | ({ readonly kind: 'rest' } & RestPetStoreOptions & {
        /** The URL of the Redis server for writes with an idempotency key; in memory if undefined. */
        readonly idempotencyStore?: string | undefined;
      });

/** Opens the built-in backend's database for administration: accounts, keys, import and export. */
export async function openAdministration(databaseUrl: string, log: Log) {
  const { store } = await import('./builtin/store.ts');
  const { openAdministration: open } = await import('../backends/builtin/administration.ts');
  return open(databaseUrl, store, log);
}

/** Backs up an SQLite database to a new file; see `builtin/backup.ts`. */
export const backUp: typeof backUpFile = async (...args) =>
  (await import('../backends/builtin/backup.ts')).backUp(...args);

/**
 * Opens a backend and loads only its modules. No other module refers to specific backends. `reload` uses
 * these certificates for further connections, and throws if one can't be used.
 */
export async function openPetStore(
  options: BackendOptions,
  telemetry: Reporting,
  keys: ApiKeys,
): Promise<PetStore & { reload?(options: object): void }> {
  return options.kind === 'builtin'
    ? openBuiltin(options, telemetry, keys)
    : openRest(options, telemetry, keys);
}

async function openBuiltin(options: BuiltinOptions, telemetry: Reporting, keys: ApiKeys) {
  const { openBuiltinBackend } = await import('../backends/builtin/backend.ts');
  const { store } = await import('./builtin/store.ts');
  return openBuiltinBackend(contract.operations, store, options, telemetry, keys);
}

async function openRest(
  options: BackendOptions & { readonly kind: 'rest' },
  telemetry: Reporting,
  keys: ApiKeys,
) {
  const { idempotencyStore: url, timeoutMs, honouring = 'off' } = options;
  const { baseUrlsOf, openRestPetStore } = await import('./rest.ts');
  const { rememberWrites } = await import('../writes/remembered-writes.ts');
  const store =
    url === undefined
      ? (await import('../writes/memory.ts')).openWriteMemory(keys, telemetry.metrics)
      : await (await import('../writes/redis.ts')).openWriteRedis(url, timeoutMs, telemetry);
  const services = Object.entries(baseUrlsOf(options)).map(([name, baseUrl]) => {
    const carriesKey = ['on', name].includes(honouring);
    return [name, { url: `${baseUrl?.href.replace(/\/+$/, '')}`, carriesKey }];
  });
  const petStore = openRestPetStore(options, telemetry, keys);
  return rememberWrites(contract, petStore, store, Object.fromEntries(services));
}
