import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';

/**
 * A Kysely dialect on Node's own SQLite. `location` is a file, created with its folder when it is
 * missing, or `:memory:`. A write is on the disk when its query resolves (WAL, synchronous=FULL).
 */
export function sqliteDialect(location: string): SqliteDialect {
  return new NodeSqliteDialect({ database: async () => openDatabase(location) });
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

function openDatabase(location: string): SqliteDatabase {
  if (location !== ':memory:') mkdirSync(dirname(location), { recursive: true });
  // Bigints, or a number beyond 2^53 fails after its row is stored; a timeout, or a second process
  // that writes at the same moment fails at once.
  const database = new DatabaseSync(location, { readBigInts: true, timeout: 2000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = prepare(database, sql);
        // The backend has a few dozen queries; migrations run once and need no place here.
        if (statements.size < 100) statements.set(sql, statement);
      }
      return statement;
    },
    close: () => database.close(),
  };
}

function prepare(database: DatabaseSync, sql: string): SqliteStatement {
  // Every transaction here writes. One that took the lock only at its first write would fail, not
  // wait, when another process had written since it began.
  const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql);
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
