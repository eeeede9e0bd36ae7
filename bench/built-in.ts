import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { openAdministration } from '../src/backends/open.ts';
import { createLog } from '../src/telemetry/log.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { createPets } from './pets.ts';
import type { Workload } from './workloads.ts';

/** A database of the built-in backend, and an API key for it. */
export interface BuiltInDatabase extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly apiKey: string;
}

/** Creates a database with 100 pets in `folder`. It is SQLite unless the workload needs PostgreSQL. */
export async function createDatabase(
  { needs }: Pick<Workload, 'needs'>,
  folder: string,
): Promise<BuiltInDatabase> {
  const postgres = needs === 'postgres' ? await startPostgres() : undefined;
  const databaseUrl =
    (await postgres?.createDatabase()) ??
    `file:${join(mkdtempSync(join(folder, 'database-')), 'pet-store.db')}`;
  return {
    databaseUrl,
    apiKey: await fill(databaseUrl),
    [Symbol.asyncDispose]: async () => postgres?.[Symbol.asyncDispose](),
  };
}

/** Creates 100 pets. @returns an API key. */
async function fill(databaseUrl: string): Promise<string> {
  const log = createLog('silent', process.stderr);
  await using administration = await openAdministration(databaseUrl, log);
  await administration.importLines('pets', toLines(createPets(100)), () => {});
  await administration.keys.createAccount('bench');
  return (await administration.keys.create('bench')).key;
}

async function* toLines(records: readonly object[]): AsyncGenerator<string> {
  for (const record of records) yield JSON.stringify(record);
}
