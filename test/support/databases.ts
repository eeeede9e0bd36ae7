import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import type { Database } from '../../src/petstore/builtin/tables.ts';
import { openDatabase } from './database.ts';
import { createFolder } from './folder.ts';
import { quiet } from './log.ts';
import { createDatabaseAt } from './postgres.ts';
import { shared } from './shared.ts';

/** Creates an empty database in the PostgreSQL of the test run; see `createDatabaseAt`. */
export async function createPostgresDatabase(owner?: string): Promise<string> {
  return createDatabaseAt((await shared('postgres')) ?? '', owner);
}

/** Opens a database, which it may migrate, for some work. @returns the result of the work. */
export async function onDatabase<T>(
  url: string,
  work: (database: Database) => T | Promise<T>,
): Promise<T> {
  const database = await openDatabase(url, quiet.log);
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/** Runs the tests on every database that the built-in backend supports. Call it outside `describe`. */
export function describeOnEveryDatabase(
  behaviours: string,
  tests: (createDatabase: () => Promise<string>) => void,
): void {
  const folder = createFolder();
  describe(`${behaviours} on SQLite`, () => tests(async () => `file:${folder}/${randomUUID()}.db`));
  describe(`${behaviours} on PostgreSQL`, () => tests(() => createPostgresDatabase()));
}
