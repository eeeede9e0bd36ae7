import { encodePet } from '../../contract/codec.ts';
import type { Database } from './database.ts';
import type { Kind } from './import-line.ts';
import { selectedPet, toPet } from './rows.ts';

/** The number of rows per SELECT. */
const pageSize = 1000;

/** Exports all records of a kind as JSON Lines, ordered by id, in constant memory. */
export async function* exportLines(database: Database, kind: Kind): AsyncGenerator<string> {
  let after = -(2n ** 63n);
  for (let isFirst = true; ; isFirst = false) {
    const above = isFirst ? '>=' : '>';
    const lines = kind === 'pets' ? petLines : orderLines;
    const page = await lines(database, above, after);
    for (const { line } of page) yield `${line}\n`;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.id;
  }
}

interface Line {
  readonly id: bigint;
  readonly line: string;
}

async function petLines(database: Database, above: '>' | '>=', id: bigint): Promise<Line[]> {
  const rows = await database
    .selectFrom('pets')
    .select('id')
    .select(selectedPet)
    .where('id', above, id)
    .orderBy('id')
    .limit(pageSize)
    .execute();
  return rows.map((row) => ({ id: row.id, line: JSON.stringify(encodePet(toPet(row))) }));
}

async function orderLines(database: Database, above: '>' | '>=', id: bigint): Promise<Line[]> {
  const rows = await database
    .selectFrom('orders')
    .selectAll()
    .where('id', above, id)
    .orderBy('id')
    .limit(pageSize)
    .execute();
  return rows.map((row) => ({ id: row.id, line: row.document }));
}
