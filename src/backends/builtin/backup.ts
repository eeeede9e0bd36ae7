import { randomUUID } from 'node:crypto';
import { existsSync, fstatSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { engineOf } from './database.ts';
import { copySqlite } from './sqlite.ts';

/**
 * Copies an SQLite database to a new file, which appears once the copy is checked and on disk, and returns
 * its size in bytes. `watch` gets the work, its present size, and that of the database.
 * @throws if the file exists, or the database is not a file; for PostgreSQL, with the command to run
 */
export async function backUp(
  databaseUrl: string,
  file: string,
  watch = (work: Promise<void>, _bytes: () => number, _total: number) => work,
): Promise<number> {
  if (engineOf(databaseUrl) === 'postgres') {
    const target = `'${file.replaceAll("'", "'\\''")}'`;
    throw new Error(
      `Nothing was backed up, because PostgreSQL has a command for it. Run it with DATABASE_URL of PostgreSQL itself, not of PgBouncer:\n  pg_dump --format=custom --file=${target} "$DATABASE_URL"`,
    );
  }
  if (databaseUrl === ':memory:') {
    throw new Error('DATABASE_URL: expected a database in a file, received :memory:.');
  }
  const database = databaseUrl.replace(/^file:/, '');
  const { size } = await stat(database);
  if (existsSync(file)) throw new Error(`${file} already exists. Nothing was backed up.`);
  const partial = `${file}.${randomUUID()}.partial`;
  // SQLite writes to an existing file if it is empty. This one is readable only by its owner.
  const copy = await open(partial, 'wx', 0o600).catch((error: Error) => {
    throw Object.assign(error, { path: file });
  });
  try {
    await watch(copySqlite(database, partial), () => fstatSync(copy.fd).size, size);
    await copy.sync();
    // Fails if the file exists by now; renaming would replace it.
    await (await open(file, 'wx')).close();
    await rename(partial, file);
    return (await copy.stat()).size;
  } catch (cause) {
    for (const end of ['', '-shm', '-wal']) await rm(partial + end, { force: true });
    throw new Error(`${file}: the backup failed: ${(cause as Error).message}`, { cause });
  } finally {
    await copy.close();
  }
}
