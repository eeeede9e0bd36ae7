import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { encodeRecord } from '../../contract/codec.ts';
import type { Log } from '../../telemetry/log.ts';
import { engineOf, openDatabase } from './database.ts';
import { importLines } from './import.ts';
import { whenFree } from './locks.ts';
import type { AnyStore } from './store.ts';
import { StoredApiKeys } from './stored-api-keys.ts';
import type { RecordTable } from './table.ts';
import type { Database } from './tables.ts';

/** Administrative access to the built-in backend's database: API keys, import and export. */
export type Administration = Awaited<ReturnType<typeof openAdministration>>;

/** Opens the database for administration and migrates it. */
export async function openAdministration(databaseUrl: string, store: AnyStore, log: Log) {
  const database = await openDatabase(databaseUrl, store, log);
  const engine = engineOf(databaseUrl);
  return {
    keys: new StoredApiKeys(database),
    importLines: importLines.bind(undefined, database, engine, store.recordKinds),
    exportLines: exportLines.bind(undefined, database, store.recordKinds),
    [Symbol.asyncDispose]: () => database.destroy(),
  };
}

const pageSize = 1000;

type Row = Readonly<Record<string, unknown>>;

/** Returns what is selected beside the id, and how a row of it becomes a line. */
function linesOf(kind: RecordTable | 'document' | undefined) {
  if (kind === undefined || kind === 'document') {
    const selected = [sql.ref('document').as('document')];
    return { selected, toLine: ({ document }: Row) => String(document) };
  }
  const { selected, toRecord, record } = kind;
  const toLine = (row: Row) => JSON.stringify(encodeRecord(record, toRecord(row)));
  return { selected, toLine };
}

/** Exports all records of a kind as JSON Lines, ordered by id, in constant memory. */
async function* exportLines(
  database: Database,
  kinds: AnyStore['recordKinds'],
  name: string,
): AsyncGenerator<string> {
  const { selected, toLine } = linesOf(kinds[name]);
  const records = database.withTables<Record<string, { id: bigint }>>();
  const first = records
    .selectFrom(name)
    .select('id')
    .select(selected)
    .orderBy('id')
    .limit(pageSize);
  let page: ({ id: bigint } & Row)[] = await whenFree(() => first.execute());
  while (page.length > 0) {
    for (const row of page) yield `${toLine(row)}\n`;
    const { id } = page.at(-1) as (typeof page)[number];
    // Signals and the progress would wait for the end of SQLite and a file, which are synchronous.
    await turn();
    const next = first.where('id', '>', id);
    page = page.length < pageSize ? [] : await whenFree(() => next.execute());
  }
}
