import { openDatabase as open } from '../../src/backends/builtin/database.ts';
import type { ServerOptions } from '../../src/backends/builtin/postgres.ts';
import { store } from '../../src/petstore/builtin/store.ts';
import type { Database } from '../../src/petstore/builtin/tables.ts';
import type { Log } from '../../src/telemetry/log.ts';

/** Opens and migrates a database of the pet store. */
export const openDatabase = async (databaseUrl: string, log: Log, server?: ServerOptions) =>
  (await open(databaseUrl, store, log, server)) as unknown as Database;
