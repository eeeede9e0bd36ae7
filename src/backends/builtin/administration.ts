import { setImmediate as turn } from 'node:timers/promises';
import { type AliasedExpression, sql } from 'kysely';
import { encodePet } from '../../contract/codec.ts';
import type { Log } from '../../telemetry/log.ts';
import { type Database, engineOf, openDatabase } from './database.ts';
import { importLines } from './import.ts';
import type { RecordKind } from './import-line.ts';
import { whenFree } from './locks.ts';
import { selectedPet, toPet } from './rows.ts';
import { StoredApiKeys } from './stored-api-keys.ts';

/** Administrative access to the built-in backend's database: API keys, import and export. */
export type Administration = Awaited<ReturnType<typeof openAdministration>>;

/** Opens the database for administration and migrates it. */
export async function openAdministration(databaseUrl: string, log: Log) {
  const database = await openDatabase(databaseUrl, log);
  const engine = engineOf(databaseUrl);
  return {
    keys: new StoredApiKeys(database),
    importLines: importLines.bind(undefined, database, engine),
    exportLines: exportLines.bind(undefined, database),
    [Symbol.asyncDispose]: () => database.destroy(),
  };
}

const pageSize = 1000;

/** What is selected of each kind beside the id, and how a row of it becomes a line. */
const kinds: Readonly<Record<RecordKind, [AliasedExpression<unknown, string>[], ToLine]>> = {
  pets: [selectedPet, (row) => JSON.stringify(encodePet(toPet(row)))],
  orders: [[sql.ref('document').as('document')], ({ document }) => String(document)],
};
type ToLine = (row: Parameters<typeof toPet>[0]) => string;

/** Exports all records of a kind as JSON Lines, ordered by id, in constant memory. */
async function* exportLines(database: Database, kind: RecordKind): AsyncGenerator<string> {
  const [columns, toLine] = kinds[kind];
  const all = database.selectFrom(kind).select('id').select(columns);
  const first = all.orderBy('id').limit(pageSize);
  let page = await whenFree(() => first.execute());
  while (page.length > 0) {
    for (const row of page) yield `${toLine(row)}\n`;
    const { id } = page.at(-1) as (typeof page)[number];
    // Signals and the progress would wait for the end of SQLite and a file, which are synchronous.
    await turn();
    const next = first.where('id', '>', id);
    page = page.length < pageSize ? [] : await whenFree(() => next.execute());
  }
}
