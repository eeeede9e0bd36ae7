import { LRUCache } from 'lru-cache';
import { ErrorResponse } from '../../contract/error.ts';
import type { Caller, CallerIdentity } from '../../contract/pet-store.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import type { Log } from '../../telemetry/log.ts';
import { hashOf, keyColumns, timeAfter } from './api-keys.ts';
import type { Database, Query } from './database.ts';

/** How long a valid key is cached, in milliseconds. The cache saves one query per request. */
const cacheMs = 2000;
const maxCachedKeys = 10_000;

/** How often the last use of a key is stored, in milliseconds. */
const lastUseMs = 60_000;

/**
 * Returns a function that resolves if a key is known, and neither expired nor revoked, and throws
 * ErrorResponse 401 otherwise; only the log has the reason, as a code. Demo keys are also accepted, but
 * never stored, so that no database can carry them into production.
 * @param send sends a query for a caller
 */
export function createApiKeyCheck(
  database: Database,
  demoKeys: ReadonlySet<string>,
  send: <T>(caller: Caller, query: Query<T>) => Promise<T>,
  keys: ApiKeys,
  log: Log,
) {
  const goodKeys = new LRUCache<string, CallerIdentity>({ max: maxCachedKeys, ttl: cacheMs });

  /** Stores when the key was used. No request waits for it, or fails with it. */
  function storeUse(id: string): void {
    database
      .updateTable('api_keys')
      .set({ last_used_at: timeAfter(0) })
      .where('id', '=', id)
      .execute()
      .catch((err) => log.debug({ err, keyId: id }, 'the last use of a key was not stored'));
  }

  return async (caller: Caller): Promise<void> => {
    const apiKey = caller.key.credential;
    if (demoKeys.has(apiKey)) return;
    const good = goodKeys.get(apiKey);
    if (good) {
      caller.identity = good;
      return;
    }
    const key = await send(caller, (connection) =>
      connection
        .selectFrom('api_keys')
        .select(keyColumns)
        // Comparing hashes leaks nothing about a key through timing.
        .where('key_hash', '=', hashOf(apiKey))
        .executeTakeFirst(),
    );
    const identity = key && { account: key.account, keyId: key.id };
    caller.identity = identity;
    const validMs = key?.expiresAt ? Date.parse(key.expiresAt) - Date.now() : cacheMs;
    if (key === undefined || identity === undefined || key.revokedAt !== null || validMs <= 0) {
      if (key !== undefined) {
        const code = key.revokedAt === null ? 'api_key_expired' : 'api_key_revoked';
        log.info({ code, ...identity, requestId: caller.requestId }, 'API key refused');
      }
      keys.refuse(caller.key);
      throw ErrorResponse.of({
        code: 'invalid_api_key',
        message: 'The API key is unknown, expired or revoked.',
        status: 401,
      });
    }
    if (key.lastUsedAt === null || key.lastUsedAt < timeAfter(-lastUseMs)) storeUse(key.id);
    goodKeys.set(apiKey, identity, { ttl: Math.min(cacheMs, validMs) });
  };
}
