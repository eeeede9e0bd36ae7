import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import { createFolder } from './folder.ts';
import { createDatabaseAt } from './postgres.ts';
import { shared } from './shared.ts';

/** Creates an empty database in the PostgreSQL of the test run; see `createDatabaseAt`. */
export async function createPostgresDatabase(owner?: string): Promise<string> {
  return createDatabaseAt((await shared('postgres')) ?? '', owner);
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
