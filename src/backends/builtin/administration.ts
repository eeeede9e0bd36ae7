import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { encodeRecord } from '../../contract/codec.ts';
import type { Log } from '../../telemetry/log.ts';
import { engineOf, openDatabase } from './database.ts';
import { importLines, type Kind, kindOf } from './import.ts';
import { whenFree } from './locks.ts';
import type { AnyStore } from './store.ts';
import { StoredApiKeys } from './stored-api-keys.ts';
import type { Database } from './tables.ts';

/** Administrative access to the built-in backend's database: API keys, import and export. */
export type Administration = Awaited<ReturnType<typeof openAdministration>>;

/** Opens the database for administration and migrates it. */
export async function openAdministration(databaseUrl: string, store: AnyStore, log: Log) {
  const database = await openDatabase(databaseUrl, store, log);
  const engine = engineOf(databaseUrl);
  return {
    keys: new StoredApiKeys(database),
    importLines: async (name: string, lines: AsyncIterable<Buffer>) =>
      importLines(database, engine, kindOf(store.recordKinds, name), lines),
    exportLines: (name: string) => exportLines(database, kindOf(store.recordKinds, name)),
    [Symbol.asyncDispose]: () => database.destroy(),
  };
}

const pageSize = 1000;

type Row = Readonly<Record<string, unknown>>;

/** Returns what is selected, with the id, and how a row of it becomes a line. */
function linesOf({ type }: Kind) {
  if (type === 'document') {
    const selected = ['id', 'document'].map((name) => sql.ref(name).as(name));
    return { selected, toLine: ({ document }: Row) => String(document) };
  }
  const { selected, toRecord, record } = type;
  const toLine = (row: Row) => JSON.stringify(encodeRecord(record, toRecord(row)));
  return { selected, toLine };
}

/** Exports all records of a kind as JSON Lines, ordered by id, in constant memory. */
async function* exportLines(database: Database, kind: Kind): AsyncGenerator<string> {
  const { name, id } = kind;
  const { selected, toLine } = linesOf(kind);
  const records = database.withTables<Record<string, Row>>();
  const first = records.selectFrom(name).select(selected).orderBy(id.column).limit(pageSize);
  let page: Row[] = await whenFree(() => first.execute());
  while (page.length > 0) {
    for (const row of page) yield `${toLine(row)}\n`;
    const last = page.at(-1)?.[id.name];
    // Signals and the progress would wait for the end of SQLite and a file, which are synchronous.
    await turn();
    const next = first.where(id.column, '>', last);
    page = page.length < pageSize ? [] : await whenFree(() => next.execute());
  }
}
