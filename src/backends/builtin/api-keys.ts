import { createHash, randomBytes } from 'node:crypto';
import { ErrorResponse } from '../../contract/error.ts';
import type { Database } from './database.ts';

/** An account that holds API keys. */
export interface Account {
  readonly name: string;
  readonly createdAt: string;
}

/** An API key without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly account: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

/** An account or key command failed, for example because the account does not exist. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
}

/** The accounts and API keys of the built-in backend. */
export class ApiKeys {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Creates an account. @throws ApiKeyError if the name is taken or contains invalid characters. */
  async createAccount(name: string): Promise<Account> {
    if (!/^[\w.@+-]{1,64}$/.test(name)) {
      throw new ApiKeyError(
        `Account name: expected 1 to 64 characters of A-Z a-z 0-9 _ . @ + -, received ${JSON.stringify(name)}.`,
      );
    }
    const row = { name, created_at: new Date().toISOString() };
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto('accounts')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 0n) {
      throw new ApiKeyError(`An account with the name ${JSON.stringify(name)} already exists.`);
    }
    return { name, createdAt: row.created_at };
  }

  /** Lists all accounts, ordered by name. */
  async listAccounts(): Promise<Account[]> {
    return this.#database
      .selectFrom('accounts')
      .select(['name', 'created_at as createdAt'])
      .orderBy('name')
      .execute();
  }

  /**
   * Creates a key of 256 random bits. Only its hash is stored, so the key cannot be shown again.
   * @throws ApiKeyError if the account does not exist.
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

  /** Lists an account's keys, oldest first. @throws ApiKeyError if the account does not exist. */
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
   * Revokes a key; running gateways refuse it within `cacheMs`. A revoked key stays unchanged.
   * @throws ApiKeyError if the key does not exist.
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
    throw new ApiKeyError(
      `There is no API key with the id ${JSON.stringify(id)}. List the keys of an account with: keys list ACCOUNT`,
    );
  }

  async #requireAccount(name: string): Promise<void> {
    const account = await this.#database
      .selectFrom('accounts')
      .select('name')
      .where('name', '=', name)
      .executeTakeFirst();
    if (account !== undefined) return;
    throw new ApiKeyError(
      `There is no account with the name ${JSON.stringify(name)}. Create it with: keys create-account ${name}`,
    );
  }
}

/**
 * Resolves if the key is known and not revoked.
 * @throws ErrorResponse 401 otherwise.
 */
export type CheckApiKey = (apiKey: string) => Promise<void>;

/** How long a valid key is cached, in milliseconds. The cache saves one query per request. */
const cacheMs = 2000;
const maxCachedKeys = 10_000;

/**
 * Checks keys against the stored hashes. The demo key is also accepted, but never stored, so that no
 * database can carry it into production.
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
      // Comparing hashes leaks nothing about a key through timing.
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

/** Hashes a key. A fast hash is safe, because keys are random and cannot be guessed. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
