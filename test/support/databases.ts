import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { startPostgres } from './postgres.ts';

let opened: ReturnType<typeof openDatabases> | undefined;

/** Opens a folder for SQLite and a PostgreSQL server, which all tests of a file share. */
function openDatabases() {
  let folder: string;
  let server: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pet-store-'));
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }, 60_000);
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
