import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, fstatSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { engineOf } from './database.ts';

/** How often the progress of a backup is reported, in milliseconds. */
const progressIntervalMs = 100;

/**
 * Copies an SQLite database to a new file, which appears once the copy is checked and on disk, and returns
 * its size in bytes. `onProgress` gets the bytes that are written, and their fraction of about all.
 * @throws if the file exists, or the database is not a file; for PostgreSQL, with the command to run
 */
export async function backUp(
  databaseUrl: string,
  file: string,
  onProgress: (bytes: number, part: number) => void,
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
  const progress = setInterval(() => {
    const { size: bytes } = fstatSync(copy.fd);
    onProgress(bytes, Math.min(bytes / size, 0.99));
  }, progressIntervalMs);
  try {
    const workerData = { database, copy: partial };
    const [integrity] = await once(new Worker(copyInThread, { eval: true, workerData }), 'message');
    if (integrity !== 'ok') throw new Error(`the copy is damaged: ${integrity}`);
    await copy.sync();
    // Fails if the file exists by now; renaming would replace it.
    await (await open(file, 'wx')).close();
    await rename(partial, file);
  } catch (cause) {
    await rm(partial, { force: true });
    throw new Error(`${file}: the backup failed: ${(cause as Error).message}`, { cause });
  } finally {
    clearInterval(progress);
    await copy.close();
  }
  const { size: bytes } = await stat(file);
  onProgress(bytes, 1);
  return bytes;
}

/**
 * Runs in a thread, because SQLite works synchronously; as text, because the build bundles all files.
 * `VACUUM INTO` reads one state; SQLite's backup API starts over at each write of another process.
 */
const copyInThread = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: { database, copy } } = require('node:worker_threads');
  const source = new DatabaseSync(database, { timeout: 10_000 });
  source.prepare('VACUUM INTO ?').run(copy);
  source.close();
  const target = new DatabaseSync(copy, { readOnly: true });
  const { integrity_check } = target.prepare('PRAGMA integrity_check(1)').get();
  target.close();
  parentPort.postMessage(integrity_check);
`;
