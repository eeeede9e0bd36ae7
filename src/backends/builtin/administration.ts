import type { Log } from '../../telemetry/log.ts';
import { engineOf, openDatabase } from './database.ts';
import { exportLines } from './export.ts';
import { importLines } from './import.ts';
import { migrate } from './migrations.ts';
import { StoredApiKeys } from './stored-api-keys.ts';

/** Administrative access to the built-in backend's database: API keys, import and export. */
export type Administration = Awaited<ReturnType<typeof openAdministration>>;

/** Opens the database for administration and migrates it. */
export async function openAdministration(databaseUrl: string, log: Log) {
  const database = await openDatabase(databaseUrl, log);
  const engine = engineOf(databaseUrl);
  return {
    keys: new StoredApiKeys(database),
    /** Imports all lines or none; see `importLines`. */
    importLines: importLines.bind(undefined, database, engine),
    /** Exports all records of a kind as JSON Lines. */
    exportLines: exportLines.bind(undefined, database),
    /** Undoes the migrations after this one, so that an earlier version can run. */
    migrateTo: (migration: string) => migrate(database, engine, migration),
    [Symbol.asyncDispose]: () => database.destroy(),
  };
}
