import { type Kysely, sql } from 'kysely';
import type { Database, Tables } from './database.ts';
import { decodeLine, ImportError, type Kind, type Line, type Row } from './import-line.ts';
import type { Engine } from './migrations.ts';

/** Rows of one INSERT of values: six parameters a row stay far below the limits of both engines. */
const batchSize = 1000;

/** Lines that one statement moves from the staging table: it takes some hundredths of a second. */
const linesAtOnce = 10_000;

/** How often others may take an id in the moment between the look for it and the transaction. */
const maxTries = 10;

/** The lines of an import as rows of a table of the connection, which is gone with it. */
interface Staged {
  line: number;
  id: bigint | null;
  name: string | null;
  category_id: bigint | null;
  status: string | null;
  document: string | null;
}
type Session = Kysely<Tables & { staged: Staged }>;

/** The columns of each kind, beside the id. */
const columnsOf = { pets: ['name', 'category_id', 'status'], orders: ['document'] } as const;

/**
 * Imports lines, all or nothing, in constant memory; blank lines are passed over. The whole input is
 * read and checked into a temporary table first, which locks nothing. Then one transaction moves it,
 * so that others who write wait for that transaction only.
 * @param onProgress is called with how many records have been read so far.
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
  return database.connection().execute(async (connection) => {
    const session = connection.withTables<{ staged: Staged }>();
    await createStaged(session);
    const staged = await stage(session, kind, lines, onProgress);
    for (let tries = 0; tries < maxTries; tries++) {
      await requireFreeIds(session, kind, staged);
      if (engine === 'postgres' && staged.withIds) await raiseIdentity(session, kind);
      if (await move(session, kind, staged)) {
        await session.schema.dropTable('staged').execute();
        return staged.records;
      }
    }
    throw new Error('Others took ids of this import again and again. Nothing was imported.');
  });
}

async function createStaged(session: Session): Promise<void> {
  await session.schema.dropTable('staged').ifExists().execute();
  await session.schema
    .createTable('staged')
    .temporary()
    .addColumn('line', 'bigint', (column) => column.primaryKey())
    .addColumn('id', 'bigint', (column) => column.unique())
    .addColumn('name', 'text')
    .addColumn('category_id', 'bigint')
    .addColumn('status', 'text')
    .addColumn('document', 'text')
    .execute();
}

/** What the staging table holds. */
interface Contents {
  readonly records: number;
  readonly lastLine: number;
  readonly withIds: boolean;
}

async function stage(
  session: Session,
  kind: Kind,
  lines: AsyncIterable<Line>,
  onProgress: (records: number) => void,
): Promise<Contents> {
  let line = 0;
  let records = 0;
  let withIds: boolean | undefined;
  let batch: (Row & { readonly line: number })[] = [];
  const flush = async () => {
    await insert(session, batch);
    records += batch.length;
    batch = [];
    onProgress(records);
  };
  for await (const text of lines) {
    line++;
    const row = decodeLine(kind, text, line);
    if (row === undefined) continue;
    // An id that the database gave to one line could be the one that a later line brings along.
    withIds ??= 'id' in row;
    if ('id' in row !== withIds) {
      throw new ImportError(line, 'expected an id on every line or on none.');
    }
    batch.push({ line, ...row });
    if (batch.length === batchSize) await flush();
  }
  if (batch.length > 0) await flush();
  return { records, lastLine: line, withIds: withIds ?? false };
}

async function insert(
  session: Session,
  batch: readonly (Row & { readonly line: number })[],
): Promise<void> {
  const inserted = await session
    .insertInto('staged')
    .values(batch)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('line')
    .execute();
  if (inserted.length === batch.length) return;
  const lines = new Set(inserted.map(({ line }) => Number(line)));
  const second = batch.find(({ line }) => !lines.has(line));
  if (second) throw new ImportError(second.line, `the id ${second.id} is taken.`);
}

/** @throws ImportError for the first line whose id a record of the database has. */
async function requireFreeIds(session: Session, kind: Kind, staged: Contents): Promise<void> {
  if (!staged.withIds) return;
  for (let after = 0; after < staged.lastLine; after += linesAtOnce) {
    const taken = await session
      .selectFrom('staged')
      .select(['line', 'id'])
      .where('line', '>', after)
      .where('line', '<=', after + linesAtOnce)
      .where(
        sql<boolean>`exists (select 1 from ${sql.table(kind)} as kept where kept.id = staged.id)`,
      )
      .orderBy('line')
      .executeTakeFirst();
    if (taken) throw new ImportError(Number(taken.line), `the id ${taken.id} is taken.`);
  }
}

/** Moves everything in one transaction; false, and nothing, when an id was taken meanwhile. */
async function move(session: Session, kind: Kind, staged: Contents): Promise<boolean> {
  const columns = staged.withIds ? ['id', ...columnsOf[kind]] : columnsOf[kind];
  const list = sql.join(columns.map((column) => sql.ref(column)));
  const isTaken = new Error('An id is taken');
  const work = session.transaction().execute(async (transaction) => {
    let moved = 0n;
    for (let after = 0; after < staged.lastLine; after += linesAtOnce) {
      const { numAffectedRows = 0n } = await sql`
        insert into ${sql.table(kind)} (${list}) select ${list} from staged
        where line > ${after} and line <= ${after + linesAtOnce} order by line
        on conflict (id) do nothing`.execute(transaction);
      moved += numAffectedRows;
    }
    if (moved < staged.records) throw isTaken;
  });
  return work.then(
    () => true,
    (error) => {
      if (error === isTaken) return false;
      throw error;
    },
  );
}

/**
 * Makes the ids that PostgreSQL gives go on above those that are about to be imported. Before the
 * transaction: a gateway that was given one of them would wait for its end.
 */
async function raiseIdentity(session: Session, kind: Kind): Promise<void> {
  // Never back: other sessions hold blocks of ids that the sequence has given out already.
  const sequence = sql`pg_get_serial_sequence(${kind}, 'id')::regclass`;
  await sql`
    select setval(${sequence}, highest) from (select max(id) as highest from staged) as ids
    where highest > coalesce(pg_sequence_last_value(${sequence}), 0)`.execute(session);
}
