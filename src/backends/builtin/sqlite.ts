import { closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import type { OnLock } from './locks.ts';

/**
 * A Kysely dialect on Node's own SQLite. `location` is a file, created with its folder when it is
 * missing, or `:memory:`. A write is on the disk when its query resolves (WAL, synchronous=FULL).
 */
export function sqliteDialect(location: string, onLock: OnLock): SqliteDialect {
  return new NodeSqliteDialect({ database: async () => openDatabase(location, onLock) });
}

class NodeSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/** SQLite can take back a migration that failed half-way; Kysely supposes that it can't. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** How long a statement waits for a lock, in milliseconds, where waiting holds nobody up. */
const lockTimeoutMs = 10_000;

function openDatabase(location: string, onLock: OnLock): SqliteDatabase {
  if (location !== ':memory:') requireDatabaseFile(location);
  // Bigints, or a number beyond 2^53 fails after its row is stored.
  const database = new DatabaseSync(location, { readBigInts: true, timeout: lockTimeoutMs });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  if (onLock === 'fail') database.exec('PRAGMA busy_timeout = 0');
  else if (location !== ':memory:') {
    // An import is kept in a temporary file until it is whole; of a container's folders, often only
    // the one of the database can be written to, or has the room.
    const folder = resolve(dirname(location)).replaceAll("'", "''");
    database.exec(`PRAGMA temp_store_directory = '${folder}'`);
  }
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = prepare(database, sql);
        // The backend has 400 lists and a few dozen other queries; migrations run once.
        if (statements.size < 500) statements.set(sql, statement);
      }
      return statement;
    },
    close: () => database.close(),
  };
}

/**
 * Makes the folder of a database. SQLite takes a file that is shorter than a page for a new database
 * and writes over it.
 * @throws when the file holds something else.
 */
function requireDatabaseFile(location: string): void {
  mkdirSync(dirname(location), { recursive: true });
  if (!statSync(location, { throwIfNoEntry: false })?.isFile()) return;
  const file = openSync(location, 'r');
  try {
    const start = Buffer.alloc(signature.length);
    const length = readSync(file, start);
    if (length > 0 && start.toString('latin1') !== signature) {
      throw new Error('file is not a database');
    }
  } finally {
    closeSync(file);
  }
}

/** The first bytes of every SQLite database (its file format, section 1.3). */
const signature = 'SQLite format 3\0';

function prepare(database: DatabaseSync, sql: string): SqliteStatement {
  // Every transaction here writes. One that took the lock only at its first write would fail, not
  // wait, when another process had written since it began.
  const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql);
  const columns = statement.columns().map(({ name }) => name);
  // Node's row objects are hash tables. Reading 20 animals takes 13.5 instead of 21.7 µs with these.
  statement.setReturnArrays(true);
  const toRow = (values: unknown) => {
    const row: Record<string, unknown> = {};
    for (const [index, name] of columns.entries()) row[name] = (values as unknown[])[index];
    return row;
  };
  return {
    reader: columns.length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])).map(toRow),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])).map(toRow),
  };
}
