import { type Generated, Kysely } from 'kysely';
import type { PetStatus } from '../../contract/records.ts';
import { migrate } from './migrations.ts';
import { sqliteDialect } from './sqlite.ts';

/** The tables of the built-in backend; `migrations.ts` creates them. */
export interface Tables {
  pets: {
    id: Generated<bigint>;
    name: string;
    category_id: bigint;
    status: PetStatus | null;
  };
  /** An order is an opaque JSON document: its fields are not published. */
  orders: { id: Generated<bigint>; document: string };
  messages: { id: string; message: string; status: string; created_at: string };
  accounts: { id: string; name: string; created_at: string };
  api_keys: {
    /** SHA-256 of the key in hex; the key itself is stored nowhere. */
    key_hash: string;
    account_id: string;
    created_at: string;
    revoked_at: string | null;
  };
}

/** A database of the built-in backend. */
export type Database = Kysely<Tables>;

/**
 * Opens the database that a `DATABASE_URL` names and brings its tables up to date.
 * @throws when it can't be opened, saying which and why.
 */
export async function openDatabase(databaseUrl: string): Promise<Database> {
  const database = new Kysely<Tables>({
    dialect: sqliteDialect(databaseUrl.replace(/^file:/, '')),
  });
  try {
    await migrate(database);
  } catch (cause) {
    await database.destroy();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`DATABASE_URL: the database ${databaseUrl} can not be opened: ${reason}`, {
      cause,
    });
  }
  return database;
}
