import { type AliasedExpression, sql } from 'kysely';
import { encodePet } from '../../contract/codec.ts';
import type { Database } from './database.ts';
import type { RecordKind } from './import-line.ts';
import { whenFree } from './locks.ts';
import { selectedPet, toPet } from './rows.ts';

/** The number of rows per SELECT. */
const pageSize = 1000;

/** What is selected of each kind beside the id, and how a row of it becomes a line. */
const kinds: Readonly<Record<RecordKind, [AliasedExpression<unknown, string>[], ToLine]>> = {
  pets: [selectedPet, (row) => JSON.stringify(encodePet(toPet(row)))],
  orders: [[sql.ref('document').as('document')], ({ document }) => String(document)],
};
type ToLine = (row: Parameters<typeof toPet>[0]) => string;

/** Exports all records of a kind as JSON Lines, ordered by id, in constant memory. */
export async function* exportLines(database: Database, kind: RecordKind): AsyncGenerator<string> {
  const [columns, toLine] = kinds[kind];
  const all = database.selectFrom(kind).select('id').select(columns);
  const first = all.orderBy('id').limit(pageSize);
  let page = await whenFree(() => first.execute());
  while (page.length > 0) {
    for (const row of page) yield `${toLine(row)}\n`;
    const { id } = page.at(-1) as (typeof page)[number];
    const next = first.where('id', '>', id);
    page = page.length < pageSize ? [] : await whenFree(() => next.execute());
  }
}
