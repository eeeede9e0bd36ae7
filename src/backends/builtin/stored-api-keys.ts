import { createHash, randomBytes } from 'node:crypto';
import type { Database } from './tables.ts';

/** A key that was just created, the only time that its secret is shown. Times are ISO 8601 text. */
export type CreatedApiKey = Awaited<ReturnType<typeof insertKey>>;

/** The columns of a key that are shown. */
export const keyColumns = [
  'id',
  'account',
  'label',
  'created_at as createdAt',
  'expires_at as expiresAt',
  'last_used_at as lastUsedAt',
  'revoked_at as revokedAt',
  'replaced_by as replacedBy',
] as const;

/** The accounts and API keys of the built-in backend. */
export class StoredApiKeys {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Creates an account. @throws if the name is taken or contains invalid characters. */
  async createAccount(name: string) {
    if (!/^[\w.@+-]{1,64}$/.test(name)) {
      throw new Error(
        `Account name: expected 1 to 64 characters of A-Z a-z 0-9 _ . @ + -, received ${JSON.stringify(name)}.`,
      );
    }
    return this.#database
      .insertInto('accounts')
      .values({ name, created_at: timeAfter(0) })
      .onConflict((conflict) => conflict.doNothing())
      .returning(['name', 'created_at as createdAt'])
      .executeTakeFirstOrThrow(
        () => new Error(`An account with the name ${JSON.stringify(name)} already exists.`),
      );
  }

  /** Lists all accounts, ordered by name. */
  async listAccounts() {
    return this.#database
      .selectFrom('accounts')
      .select(['name', 'created_at as createdAt'])
      .orderBy('name')
      .execute();
  }

  /**
   * Creates a key of 256 random bits. Only its hash is stored, so the key cannot be shown again.
   * Without a lifetime, in milliseconds, it never expires.
   * @throws if the account does not exist or the label is not printable.
   */
  async create(account: string, label?: string, lifetimeMs?: number) {
    await this.#requireAccount(account);
    if (label === undefined || /^\P{C}{1,64}$/u.test(label)) {
      return insertKey(this.#database, account, label, lifetimeMs);
    }
    throw new Error(
      `Label: expected 1 to 64 printable characters, received ${JSON.stringify(label)}.`,
    );
  }

  /** Lists an account's keys, oldest first. @throws if the account does not exist. */
  async list(account: string) {
    await this.#requireAccount(account);
    return this.#database
      .selectFrom('api_keys')
      .select(keyColumns)
      .where('account', '=', account)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
  }

  /**
   * Creates a key with the label and the lifetime of another one, which expires after the overlap and
   * is returned as `replaces`.
   * @throws if there is no such key, or if it is revoked, expired or replaced.
   */
  async rotate(id: string, overlapMs: number) {
    return this.#database.transaction().execute(async (transaction) => {
      const { account, label, createdAt, expiresAt } = await findKey(transaction, id);
      const lifetimeMs = expiresAt ? Date.parse(expiresAt) - Date.parse(createdAt) : undefined;
      const created = await insertKey(transaction, account, label, lifetimeMs);
      const expires_at = timeAfter(overlapMs);
      const replaces = await transaction
        .updateTable('api_keys')
        .set({ expires_at: expiresAt !== null && expiresAt < expires_at ? expiresAt : expires_at })
        .set({ replaced_by: created.id })
        .where('id', '=', id)
        .where('replaced_by', 'is', null)
        .where('revoked_at', 'is', null)
        .where(({ eb }) =>
          eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', timeAfter(0))]),
        )
        .returning(keyColumns)
        .executeTakeFirstOrThrow(
          () => new Error(`The API key ${id} is revoked, expired or already replaced.`),
        );
      return { ...created, replaces };
    });
  }

  /**
   * Revokes a key; running gateways refuse it within `cacheMs`. A revoked key stays unchanged.
   * @throws if the key does not exist.
   */
  async revoke(id: string) {
    await this.#database
      .updateTable('api_keys')
      .set({ revoked_at: timeAfter(0) })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .execute();
    return findKey(this.#database, id);
  }

  async #requireAccount(name: string): Promise<void> {
    const problem = `There is no account with the name ${JSON.stringify(name)}. Create it with: keys create-account ${name}`;
    await this.#database
      .selectFrom('accounts')
      .select('name')
      .where('name', '=', name)
      .executeTakeFirstOrThrow(() => new Error(problem));
  }
}

async function insertKey(
  database: Database,
  account: string,
  label: string | null = null,
  lifetimeMs?: number,
) {
  const key = `pet_${randomBytes(32).toString('base64url')}`;
  const id = randomBytes(6).toString('hex');
  const now = Date.now();
  const created_at = timeAfter(0, now);
  const expires_at = lifetimeMs === undefined ? null : timeAfter(lifetimeMs, now);
  const row = await database
    .insertInto('api_keys')
    .values({ id, account, label, key_hash: hashOf(key), created_at, expires_at })
    .returning(keyColumns)
    .executeTakeFirstOrThrow();
  return { ...row, key };
}

async function findKey(database: Database, id: string) {
  const problem = `There is no API key with the id ${JSON.stringify(id)}. List the keys of an account with: keys list ACCOUNT`;
  const query = database.selectFrom('api_keys').select(keyColumns).where('id', '=', id);
  return query.executeTakeFirstOrThrow(() => new Error(problem));
}

/** Returns the time after a duration in milliseconds, as ISO 8601 text, which sorts like the time. */
export function timeAfter(ms: number, now = Date.now()): string {
  return new Date(now + ms).toISOString();
}

/** Hashes a key as it is stored. A fast hash is safe, because keys are random and cannot be guessed. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
