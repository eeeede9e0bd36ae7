import type { Log } from '../../telemetry/log.ts';
import { ApiKeys } from './api-keys.ts';
import { engineOf, openDatabase } from './database.ts';
import { exportLines } from './export.ts';
import { importLines } from './import.ts';
import type { Kind, Line } from './import-line.ts';

/** What is done to the built-in backend by its operator, beside what the contract offers. */
export interface Administration extends AsyncDisposable {
  readonly keys: ApiKeys;
  /** Takes lines in, all or nothing; see `importLines`. */
  importLines(
    kind: Kind,
    lines: AsyncIterable<Line>,
    onProgress: (records: number) => void,
  ): Promise<number>;
  /** All records of a kind as JSON Lines. */
  exportLines(kind: Kind): AsyncIterable<string>;
}

/** Opens the database for its operator, and brings its tables up to date. */
export async function openAdministration(databaseUrl: string, log: Log): Promise<Administration> {
  const database = await openDatabase(databaseUrl, log);
  const engine = engineOf(databaseUrl);
  return {
    keys: new ApiKeys(database),
    importLines: (kind, lines, onProgress) =>
      importLines(database, engine, kind, lines, onProgress),
    exportLines: (kind) => exportLines(database, kind),
    [Symbol.asyncDispose]: () => database.destroy(),
  };
}
