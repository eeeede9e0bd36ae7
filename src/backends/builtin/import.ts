import { isUtf8 } from 'node:buffer';
import { type Kysely, sql, type Transaction } from 'kysely';
import { decodeNewPet, decodeOrders } from '../../contract/decode.ts';
import { parseInt64 } from '../../contract/int64.ts';
import { decodeUtf8, parseJson } from '../../contract/json.ts';
import type { Database, Tables } from './database.ts';
import type { Engine } from './migrations.ts';
import { isStorable, toPetRow } from './rows.ts';

/** A line of an import that can't be taken in; nothing of the whole import remains. */
export class ImportError extends Error {
  override readonly name = 'ImportError';

  constructor(lineNumber: number, reason: string) {
    super(`Line ${lineNumber}: ${reason} Nothing was imported.`);
  }
}

/** What can be imported and exported, one JSON value a line (JSON Lines). */
export type Kind = 'pets' | 'orders';

/** Rows of one INSERT: four parameters a row stay far below the limits of both engines. */
const batchSize = 1000;

/** Ids above leave no room for those that the database gives to new records. */
const maxId = 2n ** 62n;

/**
 * Imports lines in one transaction, in constant memory; blank lines are passed over.
 * @param onProgress is told how many records have been taken in so far.
 * @returns how many records were imported.
 * @throws ImportError with the number of the line and what is wrong with it.
 */
export async function importLines(
  database: Database,
  engine: Engine,
  kind: Kind,
  lines: AsyncIterable<Line>,
  onProgress: (records: number) => void,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    let lineNumber = 0;
    let records = 0;
    let withIds: boolean | undefined;
    let batch: NumberedRow[] = [];
    const flush = async () => {
      await insert(transaction, kind, batch);
      records += batch.length;
      batch = [];
      onProgress(records);
    };
    for await (const line of lines) {
      lineNumber++;
      const text = textOf(line, lineNumber);
      if (text === '') continue;
      const row = decodeLine(kind, text, lineNumber);
      // An id that the database gave to one line could be the one that a later line brings along.
      withIds ??= 'id' in row;
      if ('id' in row !== withIds) {
        throw new ImportError(lineNumber, 'expected an id on every line or on none.');
      }
      batch.push({ lineNumber, row });
      if (batch.length === batchSize) await flush();
    }
    if (batch.length > 0) await flush();
    if (engine === 'postgres' && withIds) await raiseIdentity(transaction, kind);
    return records;
  });
}

/** A line of an import: text, or bytes that should be UTF-8. */
export type Line = string | Buffer;

function textOf(line: Line, lineNumber: number): string {
  if (typeof line === 'string') return line.trim();
  if (!isUtf8(line)) throw new ImportError(lineNumber, 'expected UTF-8.');
  return decodeUtf8(line).trim();
}

interface NumberedRow {
  readonly lineNumber: number;
  readonly row: Row;
}
type Row = { readonly id?: bigint } & (ReturnType<typeof toPetRow> | { readonly document: string });

function decodeLine(kind: Kind, line: string, lineNumber: number): Row {
  try {
    const json = parseJson(line);
    if (kind === 'orders') {
      decodeOrders(json);
      return { document: line };
    }
    const pet = decodeNewPet(json);
    if (!isStorable(pet.name)) throw new Error('name: expected no NUL and no lone surrogates.');
    return { ...decodeId(json), ...toPetRow(pet) };
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'expected JSON.' : (error as Error).message;
    throw new ImportError(lineNumber, reason);
  }
}

function decodeId(json: unknown): { id?: bigint } {
  const { id } = json as { id?: unknown };
  if (id === undefined) return {};
  const int64 = typeof id === 'string' ? undefined : parseInt64(id);
  if (int64 !== undefined && BigInt(int64) <= maxId) return { id: BigInt(int64) };
  throw new Error('id: expected an integer up to 2^62, or no id at all.');
}

async function insert(
  transaction: Transaction<Tables>,
  kind: Kind,
  batch: readonly NumberedRow[],
): Promise<void> {
  const inserted = await transaction
    .insertInto(kind)
    // The two kinds of rows have columns of their own, which the union of them hides.
    .values(batch.map(({ row }) => row) as never)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .execute();
  if (inserted.length === batch.length) return;
  const left = new Set(inserted.map(({ id }) => id));
  for (const { lineNumber, row } of batch) {
    // The first row of an id was stored unless the id was taken before; a second one never is.
    if (row.id !== undefined && !left.delete(row.id)) {
      throw new ImportError(lineNumber, `the id ${row.id} is taken.`);
    }
  }
}

/** Makes the ids that PostgreSQL gives go on above those that were imported. */
async function raiseIdentity(transaction: Kysely<Tables>, kind: Kind): Promise<void> {
  // Never back: other sessions hold blocks of ids that the sequence has given out already.
  const sequence = sql`pg_get_serial_sequence(${kind}, 'id')::regclass`;
  await sql`
    select setval(
      ${sequence},
      greatest((select max(id) from ${sql.table(kind)}), pg_sequence_last_value(${sequence}), 1)
    )`.execute(transaction);
}
