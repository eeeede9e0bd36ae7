import { createHash } from 'node:crypto';
import { ErrorResponse } from '../../contract/error.ts';
import type { Database } from './database.ts';

/**
 * Resolves when the key is known and not revoked.
 * @throws ErrorResponse 401 otherwise.
 */
export type CheckApiKey = (apiKey: string) => Promise<void>;

/**
 * Checks keys against the stored hashes. The demo key is accepted besides; it is never stored, so
 * that no database carries it into production.
 */
export function createApiKeyCheck(database: Database, demoKey: string | undefined): CheckApiKey {
  const demoKeyHash = demoKey && sha256(demoKey);
  return async (apiKey) => {
    // A fast hash suffices: keys are random, and only hashes are compared, so timing tells nothing.
    const hash = sha256(apiKey);
    if (hash === demoKeyHash) return;
    const row = await database
      .selectFrom('api_keys')
      .select('key_hash')
      .where('key_hash', '=', hash)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (row === undefined) {
      throw ErrorResponse.of({
        code: 'invalid_api_key',
        message: 'The API key is unknown or revoked.',
        status: 401,
      });
    }
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
