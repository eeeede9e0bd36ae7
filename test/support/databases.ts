import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { startPostgres } from './postgres.ts';

/** Runs the tests on every database that the built-in backend supports. */
export function describeOnEveryDatabase(
  behaviours: string,
  tests: (createDatabase: () => Promise<string>) => void,
): void {
  describe(`${behaviours} on SQLite`, () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pet-store-'));
    });
    afterAll(() => rm(folder, { recursive: true }));
    tests(async () => `file:${folder}/${randomUUID()}.db`);
  });

  describe(`${behaviours} on PostgreSQL`, () => {
    let postgres: Awaited<ReturnType<typeof startPostgres>>;
    beforeAll(async () => {
      postgres = await startPostgres();
    }, 60_000);
    afterAll(() => postgres[Symbol.asyncDispose](), 60_000);
    tests(() => postgres.createDatabase());
  });
}
