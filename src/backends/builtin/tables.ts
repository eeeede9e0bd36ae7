import type { Kysely } from 'kysely';

/** The databases that the built-in backend runs on. */
export type Engine = 'sqlite' | 'postgres';

/** The tables of any contract's built-in backend; `migrations.ts` creates them. Times are ISO 8601 text. */
export interface Tables {
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
