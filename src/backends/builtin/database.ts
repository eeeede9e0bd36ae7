import { type Generated, Kysely } from 'kysely';
import type { Log } from '../../telemetry/log.ts';
import { whenFree } from './locks.ts';
import { type Engine, migrate } from './migrations.ts';
import type { ServerOptions } from './postgres.ts';
import type { PetRow } from './rows.ts';

/** The tables of the built-in backend; `migrations.ts` creates them. Times are ISO 8601 text. */
export interface Tables {
  pets: PetRow & { id: Generated<bigint> };
  /** An order is an opaque JSON document, because the contract does not specify its fields. */
  orders: { id: Generated<bigint>; document: string };
  messages: { id: string; message: string; status: string; created_at: string };
  accounts: { name: string; created_at: string };
  api_keys: {
    /** Identifies the key in commands; independent of the key itself. */
    id: string;
    account: string;
    label: string | null;
    /** SHA-256 of the key in hex; the key itself is not stored. */
    key_hash: string;
    created_at: string;
    expires_at: string | null;
    /** When a gateway last accepted the key, up to a minute earlier than it really did. */
    last_used_at: string | null;
    revoked_at: string | null;
    replaced_by: string | null;
  };
  /** The writes with an idempotency key. */
  writes: {
    /** A hash of the API key and of the write's key. */
    id: string;
    /** Of the operation and its parameters. */
    fingerprint: string;
    /** As JSON. */
    record: string;
    created_at: string;
  };
}

/** A database of the built-in backend. */
export type Database = Kysely<Tables>;

/** Runs on a connection to the database. */
export type Query<T> = (connection: Database) => Promise<T>;

/** Returns the engine of a `DATABASE_URL`. */
export function engineOf(databaseUrl: string): Engine {
  return /^postgres(?:ql)?:/.test(databaseUrl) ? 'postgres' : 'sqlite';
}

/**
 * Opens and migrates the database of a `DATABASE_URL`.
 * @throws if it cannot be opened; the message contains the URL without its password and the reason.
 */
export async function openDatabase(databaseUrl: string, log: Log, server?: ServerOptions) {
  const engine = engineOf(databaseUrl);
  // Only the driver that is needed.
  const dialect =
    engine === 'postgres'
      ? (await import('./postgres.ts')).postgresDialect(databaseUrl, log, server)
      : (await import('./sqlite.ts')).sqliteDialect(databaseUrl, server !== undefined);
  const database = new Kysely<Tables>({ dialect });
  try {
    // The statements of a command wait themselves.
    const migrations = await whenFree(() => migrate(database, engine), server && log);
    if (migrations.length > 0) log.debug({ migrations }, 'database migrated');
  } catch (cause) {
    await database.destroy();
    const { message, code } = cause as NodeJS.ErrnoException;
    const name = databaseUrl.replace(/\/\/.*@/s, '//');
    const problem = `the database ${name} cannot be opened: ${message || code}`;
    throw new Error(`DATABASE_URL: ${problem}`, { cause });
  }
  return database;
}
