import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { createFolder } from './folder.ts';
import { startPostgres } from './postgres.ts';

let opened: ReturnType<typeof openDatabases> | undefined;

/** Opens a folder for SQLite and a PostgreSQL server, which all tests of a file share. */
function openDatabases() {
  const folder = createFolder();
  let server: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose](), 60_000);
  return {
    sqlite: () => `file:${folder}/${randomUUID()}.db`,
    postgres: () => server.createDatabase(),
  };
}

/** Runs the tests on every database that the built-in backend supports. Call it outside `describe`. */
export function describeOnEveryDatabase(
  behaviours: string,
  tests: (createDatabase: () => Promise<string>) => void,
): void {
  opened ??= openDatabases();
  const { sqlite, postgres } = opened;
  describe(`${behaviours} on SQLite`, () => tests(async () => sqlite()));
  describe(`${behaviours} on PostgreSQL`, () => tests(postgres));
}
