import type { CallerIdentity } from '../../contract/caller.ts';
import { ErrorResponse, PetStoreError } from '../../contract/error.ts';
import type { ApiKey, KeyedCaller } from '../../keys/api-key.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import type { Log } from '../../telemetry/log.ts';
import { hashOf, keyColumns, timeAfter } from './stored-api-keys.ts';
import type { Database, Query } from './tables.ts';

/** How long the look-up of a valid key counts, and that of another, in milliseconds. */
const cacheMs = { valid: 2000, refused: 1000 };

/** How often the last use of a key is stored, in milliseconds. */
const lastUseMs = 60_000;

/** Also if it is in the future, after a clock was set back. */
const isLongAgo = (usedAt: string | null) =>
  Math.abs(Date.now() - Date.parse(usedAt ?? '1970-01-01')) > lastUseMs;

/** What is known of a key until a time, and its look-up in flight. Times are `performance.now()`. */
interface KnownKey {
  isValid?: boolean;
  identity?: CallerIdentity | undefined;
  until: number;
  usedAt: number;
  lookUp?: Promise<void> | undefined;
}

/**
 * Returns a function that throws ErrorResponse 401 unless a key is known, not expired and not revoked;
 * only the log has the reason, as a code. Demo keys are accepted, too, but never stored, so that no
 * database can carry them into production. `send` sends a query for a call with this deadline.
 */
export function createApiKeyCheck(
  database: Database,
  demoKeys: ReadonlySet<string>,
  send: <T>(caller: KeyedCaller, deadlineAt: number, query: Query<T>) => Promise<T>,
  keys: ApiKeys,
  log: Log,
) {
  const knownKeys = new WeakMap<ApiKey, KnownKey>();

  async function lookUp(caller: KeyedCaller, deadlineAt: number, known: KnownKey): Promise<void> {
    const key = await send(caller, deadlineAt, (connection) =>
      connection
        .selectFrom('api_keys')
        .select(keyColumns)
        // Comparing hashes leaks nothing about a key through timing.
        .where('key_hash', '=', hashOf(caller.key.credential))
        .executeTakeFirst(),
    );
    const now = performance.now();
    const validMs = key?.expiresAt ? Date.parse(key.expiresAt) - Date.now() : cacheMs.valid;
    const isValid = key !== undefined && key.revokedAt === null && validMs > 0;
    known.isValid = isValid;
    known.identity = key && { account: key.account, keyId: key.id };
    known.until = now + (isValid ? Math.min(cacheMs.valid, validMs) : cacheMs.refused);
    if (!isValid) {
      keys.refuse(caller.key);
      const code = key?.revokedAt === null ? 'api_key_expired' : 'api_key_revoked';
      const entry = { code, ...known.identity, requestId: caller.requestId };
      if (key) log.info(entry, 'API key refused');
    } else if (isLongAgo(key.lastUsedAt)) {
      if (now - known.usedAt < lastUseMs) return;
      known.usedAt = now;
      // No request waits for it, or fails with it.
      database
        .updateTable('api_keys')
        .set({ last_used_at: timeAfter(0) })
        .where('id', '=', key.id)
        .execute()
        .catch((err) => log.debug({ err, keyId: key.id }, 'the last use of a key was not stored'));
    }
  }

  return async function check(caller: KeyedCaller, deadlineAt: number): Promise<void> {
    if (demoKeys.has(caller.key.credential)) return;
    const known = knownKeys.get(caller.key) ?? { until: 0, usedAt: -lastUseMs };
    if (performance.now() >= known.until) {
      knownKeys.set(caller.key, known);
      const isJoined = known.lookUp !== undefined;
      known.lookUp ??= lookUp(caller, deadlineAt, known).finally(() => {
        known.lookUp = undefined;
      });
      try {
        await known.lookUp;
      } catch (error) {
        // The caller that it was started for has left, or was late: no error of the database.
        const isOver = caller.cancelled !== undefined || performance.now() >= deadlineAt;
        if (isJoined && !isOver && error instanceof PetStoreError) return check(caller, deadlineAt);
        throw error;
      }
    }
    caller.identity = known.identity;
    if (known.isValid) return;
    throw ErrorResponse.of({
      code: 'invalid_api_key',
      message: 'The API key is unknown, expired or revoked.',
      status: 401,
    });
  };
}
