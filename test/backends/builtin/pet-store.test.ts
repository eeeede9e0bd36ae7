import { chmod, copyFile, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { WriteKey } from '../../../src/contract/caller.ts';
import { openDatabase } from '../../support/database.ts';
import { createFolder } from '../../support/folder.ts';
import { callWith, openBuiltin } from '../../support/gateway.ts';
import { quiet } from '../../support/log.ts';
import { rex } from '../../support/writes.ts';

const folder = createFolder();

describe('the built-in backend on a file', () => {
  it('lists values of other types, which another program has stored', async () => {
    const path = `${folder}/types.db`;
    await using store = await openBuiltin(`file:${path}`);
    const other = new DatabaseSync(path);
    other.exec("INSERT INTO pets (name, category_id, status) VALUES (x'4142', 1, 'sold')");
    other.exec("INSERT INTO pets (name, category_id, status) VALUES ('half', 1.5, 'pending')");
    other.close();
    for (const status of ['sold', 'pending', undefined] as const) {
      const query = status === undefined ? { limit: 100 } : { limit: 100, status };
      const last = [...(await store.listPets(callWith(), query))].at(-1);
      expect(last?.id).toBe(status === 'sold' ? '13' : '14');
    }
  });

  it('never reuses an id', async () => {
    const url = `file:${folder}/ids.db`;
    await using store = await openBuiltin(url);
    const { id } = await store.createPet(callWith(), rex);
    const database = new DatabaseSync(`${folder}/ids.db`);
    database.exec(`DELETE FROM pets WHERE id = ${id}`);
    database.close();
    const next = await store.createPet(callWith(), { name: 'Max', categoryId: '1' });
    expect(BigInt(next.id)).toBe(BigInt(id) + 1n);
  });

  it('creates the file and its folder, and lets only its owner read it, with its -wal and -shm files', async () => {
    const database = 'new/folder/pets.db';
    await using store = await openBuiltin(`file:${folder}/${database}`);
    await store.createPet(callWith(), rex);
    const files = ['', '-wal', '-shm'].map((suffix) => stat(`${folder}/${database}${suffix}`));
    const modes = (await Promise.all(files)).map(({ mode }) => mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  });

  it.each([
    ['deleted', '', async () => {}],
    ['replaced', '', (path: string) => copyFile(`${path}.old`, path)],
    ['deleted beside it', '-wal', async () => {}],
  ])('is not ready, and refuses writes, after its file was %s', async (how, suffix, replace) => {
    const database = `${folder}/${how}.db`;
    const path = database + suffix;
    await using store = await openBuiltin(`file:${database}`);
    await store.checkReady();
    await rename(path, `${path}.old`);
    await replace(path);
    const lost = "The store's database file was deleted or replaced.";
    await expect(store.checkReady()).rejects.toThrow(`${lost} Try again later.`);
    const message = `${lost} Nothing was stored. Try again later.`;
    const refused = { writeOutcome: 'NOT_DONE', message };
    const add = () => store.createPet(callWith(), rex);
    await expect(add()).rejects.toMatchObject(refused);
    await expect(store.sendMessage(callWith(), 'Hello')).rejects.toMatchObject(refused);
    expect([...(await store.listPets(callWith(), {}))]).toHaveLength(12);
    await rename(`${path}.old`, path);
    await store.checkReady();
    expect((await add()).id).toBe('13');
  });

  it.skipIf(!process.seteuid)('names its folder if no files can be created there', async () => {
    const closed = `${folder}/closed`;
    const store = await openBuiltin(`file:${closed}/pets.db`);
    await store[Symbol.asyncDispose]();
    await chmod(folder, 0o755);
    await chmod(`${closed}/pets.db`, 0o666);
    await chmod(closed, 0o555);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    onTestFinished(() => {
      if (isRoot) process.seteuid?.(0);
    });
    await expect(openBuiltin(`file:${closed}/pets.db`)).rejects.toThrow(
      `attempt to write a readonly database: files cannot be created in the folder ${closed}`,
    );
  });

  it('reports which file cannot be opened, and why', async () => {
    await expect(openBuiltin(`file:${folder}`)).rejects.toThrow(
      `DATABASE_URL: the database file:${folder} cannot be opened: unable to open database file`,
    );
  });

  it('does not change a file with other contents', async () => {
    const lengths = [1, 2, 99, 100, 511, 512, 4095, 4096, 5000];
    const texts = lengths.map((length) => 'x'.repeat(length));
    for (const text of [...texts, 'milk, eggs', 'SQLite format 3']) {
      const path = `${folder}/${text.length}.txt`;
      await writeFile(path, text);
      await expect(openBuiltin(`file:${path}`)).rejects.toThrow('file is not a database');
      expect(await readFile(path, 'utf8')).toBe(text);
    }
  });

  it('uses an empty file as a new database', async () => {
    await writeFile(`${folder}/empty.db`, '');
    await using store = await openBuiltin(`file:${folder}/empty.db`);
    expect([...(await store.listPets(callWith(), {}))]).toHaveLength(12);
  });

  it('reports that a refused statement has done nothing', async () => {
    await using store = await openBuiltin(`file:${folder}/dropped.db`);
    const other = new DatabaseSync(`${folder}/dropped.db`);
    other.exec(
      "DROP TABLE messages; CREATE TRIGGER no BEFORE INSERT ON pets BEGIN SELECT raise(abort, 'no'); END",
    );
    other.close();
    const refused = { name: 'RefusedStatementError', writeOutcome: 'NOT_DONE' };
    await expect(store.sendMessage(callWith(), 'Hello')).rejects.toMatchObject(refused);
    const add = store.createPet(callWith(), rex);
    await expect(add).rejects.toMatchObject(refused);
  });

  it('reads while another process writes, and writes after that process commits', async () => {
    await using store = await openBuiltin(`file:${folder}/locked.db`);
    const other = new DatabaseSync(`${folder}/locked.db`);
    other.exec("BEGIN IMMEDIATE; INSERT INTO pets (name, category_id) VALUES ('other', 1)");
    let isAdded = false;
    const added = store.createPet(callWith(), rex).then((pet) => {
      isAdded = true;
      return pet;
    });
    for (let index = 0; index < 20; index++) {
      expect([...(await store.listPets(callWith(), { limit: 100 }))]).toHaveLength(12);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(isAdded).toBe(false);
    other.exec('COMMIT');
    other.close();
    expect((await added).id).toBe('14');
  });

  it('reports a busy database if the lock is not free after five seconds', async () => {
    await using store = await openBuiltin(`file:${folder}/busy.db`);
    const other = new DatabaseSync(`${folder}/busy.db`);
    other.exec('BEGIN IMMEDIATE');
    const add = (write?: WriteKey) => store.createPet(callWith(), rex, write);
    const message = "The store's database is busy.";
    await Promise.all([
      expect(add()).rejects.toThrow(`${message} Nothing was stored. Try again later.`),
      // The process that has the lock may be doing the write with the key.
      expect(add({ id: 'a', fingerprint: '' })).rejects.toMatchObject({
        message: `${message} Try again later.`,
        writeOutcome: 'UNKNOWN',
      }),
    ]);
    other.close();
  });

  it('waits longer at its start, while another process migrates', async () => {
    const other = new DatabaseSync(`${folder}/migrating.db`);
    other.exec('BEGIN IMMEDIATE; CREATE TABLE other (id INTEGER)');
    // Each look at the clock is one attempt.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 3000));
    onTestFinished(() => void vi.restoreAllMocks());
    const isLogged = () => quiet.lines.filter((line) => line.includes('waiting for a lock')).length;
    const loggedBefore = isLogged();
    const opening = openBuiltin(`file:${folder}/migrating.db`);
    await Promise.race([opening, vi.waitFor(() => expect(now).toBeGreaterThan(15_000))]);
    other.exec('COMMIT');
    other.close();
    await using store = await opening;
    expect(isLogged() - loggedBefore).toBe(1);
    expect([...(await store.listPets(callWith(), {}))]).toHaveLength(12);
  });

  it('syncs writes to disk; a command waits for other writers', async () => {
    const database = await openDatabase(`file:${folder}/pragmas.db`, quiet.log);
    const pragma = async (name: string) =>
      Object.values((await sql.raw(`PRAGMA ${name}`).execute(database)).rows[0] ?? {});
    // 2 is FULL: a commit survives a power failure.
    expect(await pragma('synchronous')).toEqual([2n]);
    expect(await pragma('busy_timeout')).toEqual([10_000n]);
    expect(await pragma('journal_mode')).toEqual(['wal']);
    await database.destroy();
  });
});
