import { openAdministration } from '../src/backends/open.ts';
import { createLog } from '../src/telemetry/log.ts';
import { createPets } from './pets.ts';

/** Creates 100 pets in a new database of the built-in backend. @returns an API key for it. */
export async function fillDatabase(databaseUrl: string): Promise<string> {
  const log = createLog('silent', process.stderr);
  await using administration = await openAdministration(databaseUrl, log);
  await administration.importLines('pets', toLines(createPets(100)), () => {});
  await administration.keys.createAccount('bench');
  return (await administration.keys.create('bench')).key;
}

async function* toLines(records: readonly object[]): AsyncGenerator<string> {
  for (const record of records) yield JSON.stringify(record);
}
