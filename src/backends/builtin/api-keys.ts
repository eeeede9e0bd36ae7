import { createHash, randomBytes } from 'node:crypto';
import { ErrorResponse } from '../../contract/error.ts';
import type { Database } from './database.ts';

/** An account that holds API keys. */
export interface Account {
  readonly name: string;
  readonly createdAt: string;
}

/** What may be told of an API key: everything but the key. */
export interface ApiKey {
  readonly id: string;
  readonly account: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

/** A wish that can't be granted, such as a key for an account that is not there. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
}

/** The accounts and API keys of the built-in backend. */
export class ApiKeys {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws ApiKeyError when the name is taken, or one that a terminal can't show. */
  async createAccount(name: string): Promise<Account> {
    if (!/^[\w.@+-]{1,64}$/.test(name)) {
      throw new ApiKeyError(
        `The name of an account has 1 to 64 characters of A-Z a-z 0-9 _ . @ + -; received ${JSON.stringify(name)}.`,
      );
    }
    const row = { name, created_at: new Date().toISOString() };
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto('accounts')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 0n) {
      throw new ApiKeyError(`There is an account with the name ${JSON.stringify(name)} already.`);
    }
    return { name, createdAt: row.created_at };
  }

  /** All accounts, by name. */
  async listAccounts(): Promise<Account[]> {
    return this.#database
      .selectFrom('accounts')
      .select(['name', 'created_at as createdAt'])
      .orderBy('name')
      .execute();
  }

  /**
   * Makes a key of 256 random bits. It is told here and never again: only its hash is stored.
   * @throws ApiKeyError when there is no such account.
   */
  async create(account: string): Promise<ApiKey & { readonly key: string }> {
    await this.#requireAccount(account);
    const key = `pet_${randomBytes(32).toString('base64url')}`;
    const id = randomBytes(6).toString('hex');
    const created_at = new Date().toISOString();
    await this.#database
      .insertInto('api_keys')
      .values({ id, account, key_hash: hashOf(key), created_at, revoked_at: null })
      .execute();
    return { id, account, createdAt: created_at, revokedAt: null, key };
  }

  /** The keys of an account, oldest first. @throws ApiKeyError when there is no such account. */
  async list(account: string): Promise<ApiKey[]> {
    await this.#requireAccount(account);
    return this.#database
      .selectFrom('api_keys')
      .select(['id', 'account', 'created_at as createdAt', 'revoked_at as revokedAt'])
      .where('account', '=', account)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
  }

  /**
   * Revokes a key; servers refuse it within `cacheMs`. Revoked again, it stays as it was.
   * @throws ApiKeyError when there is no such key.
   */
  async revoke(id: string): Promise<ApiKey> {
    await this.#database
      .updateTable('api_keys')
      .set({ revoked_at: new Date().toISOString() })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .execute();
    const key = await this.#database
      .selectFrom('api_keys')
      .select(['id', 'account', 'created_at as createdAt', 'revoked_at as revokedAt'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (key !== undefined) return key;
    throw new ApiKeyError(`There is no key with the id ${JSON.stringify(id)}.`);
  }

  async #requireAccount(name: string): Promise<void> {
    const account = await this.#database
      .selectFrom('accounts')
      .select('name')
      .where('name', '=', name)
      .executeTakeFirst();
    if (account !== undefined) return;
    throw new ApiKeyError(
      `There is no account with the name ${JSON.stringify(name)}. Create it first: keys create-account ${name}`,
    );
  }
}

/**
 * Resolves when the key is known and not revoked.
 * @throws ErrorResponse 401 otherwise.
 */
export type CheckApiKey = (apiKey: string) => Promise<void>;

/** For how long a key that was found good is taken for good, in milliseconds. */
const cacheMs = 2000;
const maxCachedKeys = 10_000;

/**
 * Checks keys against the stored hashes. The demo key is accepted besides; it is never stored, so
 * that no database carries it into production.
 */
export function createApiKeyCheck(database: Database, demoKey: string | undefined): CheckApiKey {
  const goodUntil = new Map<string, number>();
  return async (apiKey) => {
    if (apiKey === demoKey) return;
    const now = performance.now();
    if ((goodUntil.get(apiKey) ?? 0) > now) return;
    goodUntil.delete(apiKey);
    const row = await database
      .selectFrom('api_keys')
      .select('id')
      // Only hashes are compared, so the time it takes tells nothing of a key.
      .where('key_hash', '=', hashOf(apiKey))
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (row === undefined) {
      throw ErrorResponse.of({
        code: 'invalid_api_key',
        message: 'The API key is unknown or revoked.',
        status: 401,
      });
    }
    if (goodUntil.size >= maxCachedKeys) goodUntil.clear();
    goodUntil.set(apiKey, now + cacheMs);
  };
}

/** A fast hash suffices: a key is random, and can't be guessed from a list of likely ones. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
