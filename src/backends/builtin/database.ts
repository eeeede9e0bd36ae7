import { Kysely } from 'kysely';
import type { Log } from '../../telemetry/log.ts';
import { whenFree } from './locks.ts';
import { migrate } from './migrations.ts';
import type { ServerOptions } from './postgres.ts';
import type { AnyStore } from './store.ts';
import type { Engine, Tables } from './tables.ts';

/** Returns the engine of a `DATABASE_URL`. */
export function engineOf(databaseUrl: string): Engine {
  return /^postgres(?:ql)?:/.test(databaseUrl) ? 'postgres' : 'sqlite';
}

/**
 * Opens and migrates the database of a `DATABASE_URL`.
 * @throws if it cannot be opened; the message contains the URL without its password and the reason.
 */
export async function openDatabase(
  databaseUrl: string,
  store: AnyStore,
  log: Log,
  server?: ServerOptions,
) {
  const engine = engineOf(databaseUrl);
  // Only the driver that is needed.
  const dialect =
    engine === 'postgres'
      ? (await import('./postgres.ts')).postgresDialect(databaseUrl, log, server)
      : (await import('./sqlite.ts')).sqliteDialect(databaseUrl, server !== undefined);
  const database = new Kysely<Tables>({ dialect });
  try {
    // The statements of a command wait themselves.
    const migrations = await whenFree(() => migrate(database, engine, store), server && log);
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
