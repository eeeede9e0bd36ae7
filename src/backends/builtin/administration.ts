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

/** Returns the column of the id, what is selected beside it, and how a row of it becomes a line. */
function linesOf(kind: RecordTable | 'document' | undefined) {
  if (kind === undefined || kind === 'document') {
    const selected = [sql.ref('document').as('document')];
    return { id: 'id', selected, toLine: ({ document }: Row) => String(document) };
  }
  const { id, selected, toRecord, record } = kind;
  const toLine = (row: Row) => JSON.stringify(encodeRecord(record, toRecord(row)));
  return { id: id.column, selected, toLine };
}

/** Exports all records of a kind as JSON Lines, ordered by id, in constant memory. */
async function* exportLines(
  database: Database,
  kinds: AnyStore['recordKinds'],
  name: string,
): AsyncGenerator<string> {
  const { id, selected, toLine } = linesOf(kinds[name]);
  const records = database.withTables<Record<string, Row>>();
  const first = records
    .selectFrom(name)
    .select(sql.ref(id).as('exported_id'))
    .select(selected)
    .orderBy(id)
    .limit(pageSize);
  let page: Row[] = await whenFree(() => first.execute());
  while (page.length > 0) {
    for (const row of page) yield `${toLine(row)}\n`;
    const last = page.at(-1)?.['exported_id'];
    // Signals and the progress would wait for the end of SQLite and a file, which are synchronous.
    await turn();
    const next = first.where(id, '>', last);
    page = page.length < pageSize ? [] : await whenFree(() => next.execute());
  }
}
