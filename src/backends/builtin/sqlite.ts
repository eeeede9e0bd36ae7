import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';

/**
 * Creates a Kysely dialect for `node:sqlite`, for `:memory:` or `file:PATH`, which is created with its
 * directory if missing. A query resolves after its write is on disk (WAL, synchronous=FULL). That of a
 * server waits for no lock; see `ServerOptions`.
 */
export function sqliteDialect(databaseUrl: string, isServer: boolean): SqliteDialect {
  const location = databaseUrl.replace(/^file:/, '');
  const dialect = new SqliteDialect({ database: async () => openSqlite(location, isServer) });
  return Object.assign(dialect, { createAdapter: () => new TransactionalAdapter() });
}

/** SQLite can roll back migrations; Kysely's adapter assumes that it cannot. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** How long a statement of a command waits for a lock, in milliseconds. */
const lockTimeoutMs = 10_000;

function openSqlite(location: string, isServer: boolean): SqliteDatabase {
  if (location !== ':memory:') {
    mkdirSync(dirname(location), { recursive: true });
    const file = statSync(location, { throwIfNoEntry: false });
    // Only its owner may read messages and hashes of keys. SQLite's -wal and -shm files get the same mode.
    if (!file) closeSync(openSync(location, 'a', 0o600));
    // SQLite refuses a file with other contents, but treats one of a single byte as an empty one.
    if (file?.size === 1) throw new Error('file is not a database');
  }
  // Without bigints, an insert of an integer beyond 2^53 throws after the row is stored.
  const database = new DatabaseSync(location, { readBigInts: true, timeout: lockTimeoutMs });
  const folder = resolve(dirname(location));
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  } catch (cause) {
    const { message, errcode } = cause as Error & { errcode?: number };
    // SQLITE_CANTOPEN, as on a read-only file system, and SQLITE_READONLY_DIRECTORY
    if (errcode !== 14 && errcode !== 1544) throw cause;
    throw new Error(`${message}: files cannot be created in the folder ${folder}`, { cause });
  }
  if (isServer) database.exec('PRAGMA busy_timeout = 0');
  else if (location !== ':memory:') {
    // Imports use a temporary table. In a container, often only the directory of the database is
    // writable and large enough for it.
    database.exec(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
  }
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(text) {
      // SQLite itself has rolled back after some failures, such as a full disk.
      const sql = text === 'rollback' && !database.isTransaction ? 'select null' : text;
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = prepare(database, sql);
        // Reading 20 rows takes 6.5 µs of CPU time with a cached statement, 15 µs without. The limit is
        // for migrations; the backend itself has 400 lists and a few dozen other queries.
        if (statements.size < 500) statements.set(sql, statement);
      }
      return statement;
    },
    close: () => database.close(),
  };
}

function prepare(database: DatabaseSync, sql: string): SqliteStatement {
  // All transactions write. With a plain `begin`, a transaction would fail at its first write if
  // another process had written since it began.
  const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql);
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}

/** The most pages of a database: with fewer in one step, a copy starts over when another process writes. */
const allPages = 2 ** 31 - 1;

/** Copies one state of a database to an empty file, in another thread. @throws if the copy is damaged */
export async function copySqlite(location: string, copy: string): Promise<void> {
  const source = new DatabaseSync(location, { timeout: lockTimeoutMs });
  await backup(source, copy, { rate: allPages }).finally(() => source.close());
  // One that is opened read-only would leave its -wal and -shm files behind.
  const target = new DatabaseSync(copy);
  const { integrity_check: found } = target.prepare('PRAGMA integrity_check(1)').get() ?? {};
  target.close();
  if (found !== 'ok') throw new Error(`the copy is damaged: ${found}`);
}
