import { type Kysely, sql } from 'kysely';
import { decodeLine, importError, type RecordKind, type Row } from './import-line.ts';
import type { Database, Engine, Tables } from './tables.ts';

/** Rows per INSERT; at six parameters per row, this is far below the limits of both engines. */
const batchSize = 1000;

/** Lines that one statement moves from the staging table, which takes a few hundredths of a second. */
const linesAtOnce = 10_000;

/** Attempts to move the lines; one fails if an id is taken after the check, or the sequence is behind. */
const maxTries = 10;

/** A row of the temporary table that holds the lines; the commit drops it, on SQLite the next import or the end. */
type Staged = { readonly line: number } & Row;
type Session = Kysely<Tables & { staged: Staged }>;

/** A kind of record: the name of its table, the column of its id, and the others. */
export type Kind = ReturnType<typeof kindOf>;

const documents = {
  id: { name: 'id', column: 'id', type: 'bigint' },
  columns: [{ column: 'document', type: 'text' }],
};

/** Returns a kind of record. @throws if it is not one of these. */
export function kindOf(kinds: Readonly<Record<string, RecordKind>>, name: string) {
  const type = kinds[name];
  if (type === undefined) {
    const expected = Object.keys(kinds).join(', ');
    throw new Error(`kind: expected one of ${expected}, received ${JSON.stringify(name)}.`);
  }
  const { id, columns } = type === 'document' ? documents : type;
  return { name, type, id, others: columns.filter(({ column }) => column !== id.column) };
}

/**
 * Imports all lines or none, in constant memory, and returns the number of records. They are first staged
 * in a temporary table, which locks nothing: other writers wait only while it is moved. On PostgreSQL this
 * is one transaction, in which PgBouncer keeps the session, too; on SQLite it would lock all writers.
 * @throws an error with the line's number and the reason
 */
export async function importLines(
  database: Database,
  engine: Engine,
  kind: Kind,
  lines: AsyncIterable<Buffer>,
): Promise<number> {
  const isPostgres = engine === 'postgres';
  const scope = isPostgres ? database.transaction() : database.connection();
  return scope.execute(async (connection: Database) => {
    const session = connection.withTables<{ staged: Staged }>();
    await createStaged(session, kind, isPostgres);
    const staged = await stage(session, kind, lines);
    for (let tries = 0; tries < maxTries; tries++) {
      await requireFreeIds(session, kind, staged);
      if (isPostgres && staged.withIds) await raiseIdentity(session, kind);
      if (await move(session, kind, staged, isPostgres)) return staged.records;
    }
    throw new Error(`Ids of this import were taken in ${maxTries} attempts. Nothing was imported.`);
  });
}

async function createStaged(session: Session, { id, others }: Kind, isPostgres: boolean) {
  if (!isPostgres) await sql`drop table if exists temp.staged`.execute(session);
  const columns = others.map(({ column, type }) => `"${column}" ${type}`);
  const all = ['line bigint primary key', `"${id.column}" ${id.type} unique`, ...columns];
  const end = isPostgres ? ' on commit drop' : '';
  await sql.raw(`create temporary table staged (${all.join()})${end}`).execute(session);
  // The next lines may take any time to arrive.
  if (isPostgres) await sql`set local idle_in_transaction_session_timeout = 0`.execute(session);
}

type Contents = Awaited<ReturnType<typeof stage>>;

async function stage(session: Session, kind: Kind, lines: AsyncIterable<Buffer>) {
  let line = 0;
  let records = 0;
  let withIds: boolean | undefined;
  let batch: Staged[] = [];
  const flush = async () => {
    await insert(session, kind, batch);
    records += batch.length;
    batch = [];
  };
  for await (const text of lines) {
    line++;
    const row = decodeLine(kind.type, text, line);
    if (row === undefined) continue;
    // Otherwise the database could assign an id to one line that a later line contains.
    withIds ??= kind.id.column in row;
    if (kind.id.column in row !== withIds) {
      throw importError(line, 'expected an id on every line or on none.');
    }
    batch.push({ ...row, line });
    if (batch.length === batchSize) await flush();
  }
  if (batch.length > 0) await flush();
  return { records, lastLine: line, withIds: withIds ?? false };
}

async function insert(session: Session, { id }: Kind, batch: readonly Staged[]): Promise<void> {
  const inserted = await session
    .insertInto('staged')
    .values(batch)
    .onConflict((conflict) => conflict.column(id.column).doNothing())
    .returning('line')
    .execute();
  if (inserted.length === batch.length) return;
  const lines = new Set(inserted.map(({ line }) => Number(line)));
  const duplicate = batch.find(({ line }) => !lines.has(line));
  if (duplicate) throw takenError(duplicate.line, duplicate[id.column]);
}

const takenError = (line: unknown, id: unknown) =>
  importError(Number(line), `the id ${id} is already taken.`);

/** Checks the ids against the database. @throws for the first line whose id is taken. */
async function requireFreeIds(session: Session, kind: Kind, staged: Contents): Promise<void> {
  if (!staged.withIds) return;
  const id = sql.ref(kind.id.column);
  for (let after = 0; after < staged.lastLine; after += linesAtOnce) {
    const { rows } = await sql<Row>`
      select line, ${id} as id from staged where line > ${after} and line <= ${after + linesAtOnce}
        and exists (select 1 from ${sql.table(kind.name)} as kept where kept.${id} = staged.${id})
      order by line limit 1`.execute(session);
    const [taken] = rows;
    if (taken) throw takenError(taken['line'], taken['id']);
  }
}

/** Moves all lines, or none, and returns false, if an id was taken meanwhile. */
async function move(
  session: Session,
  kind: Kind,
  staged: Contents,
  isPostgres: boolean,
): Promise<boolean> {
  const [begin, end, undo] = isPostgres
    ? ['savepoint moved', 'release moved', 'rollback to moved']
    : ['begin', 'commit', 'rollback'];
  const run = (statement: string) => sql.raw(statement).execute(session);
  const columns = staged.withIds ? [kind.id, ...kind.others] : kind.others;
  const list = sql.join(columns.map(({ column }) => sql.ref(column)));
  let moved = 0n;
  await run(begin);
  try {
    for (let after = 0; after < staged.lastLine; after += linesAtOnce) {
      const { numAffectedRows = 0n } = await sql`
        insert into ${sql.table(kind.name)} (${list}) select ${list} from staged
        where line > ${after} and line <= ${after + linesAtOnce} order by line
        on conflict (${sql.ref(kind.id.column)}) do nothing`.execute(session);
      moved += numAffectedRows;
    }
    const isComplete = moved === BigInt(staged.records);
    await run(isComplete ? end : undo);
    return isComplete;
  } catch (error) {
    await run(undo).catch(() => {});
    throw error;
  }
}

/**
 * Raises PostgreSQL's sequence, which is part of no transaction, above the ids of the import before they
 * are used: a gateway that was assigned one of them would wait for the transaction to end.
 */
async function raiseIdentity(session: Session, { name, id }: Kind): Promise<void> {
  if (id.type !== 'bigint') return;
  // The sequence never goes back, because other sessions hold blocks of ids below its value.
  const sequence = sql`pg_get_serial_sequence(${name}, ${id.column})::regclass`;
  await sql`
    select setval(${sequence}, highest) from (select max(${sql.ref(id.column)}) as highest from staged) as ids
    where highest > coalesce(pg_sequence_last_value(${sequence}), 0)`.execute(session);
}
