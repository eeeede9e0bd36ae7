import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/backends/builtin/database.ts';
import { openPetStore } from '../../src/backends/open.ts';
import { callWith, openBuiltin } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pet-store-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the built-in backend on a file', () => {
  it('creates the file and its folder, and keeps animals for the next start', async () => {
    const url = `file:${folder}/new/folder/pets.db`;
    await using first = await openBuiltin(url);
    const added = await first.createPet(callWith(), { name: 'Rex', categoryId: '1' });
    await first[Symbol.asyncDispose]();
    await using second = await openBuiltin(url);
    expect(await second.getPet(callWith(), added.id)).toEqual(added);
    expect(await second.listPets(callWith(), { limit: 100 })).toHaveLength(13);
  });

  it('never gives an id twice', async () => {
    const url = `file:${folder}/ids.db`;
    await using store = await openBuiltin(url);
    const { id } = await store.createPet(callWith(), { name: 'Rex', categoryId: '1' });
    const database = new DatabaseSync(`${folder}/ids.db`);
    database.exec(`DELETE FROM pets WHERE id = ${id}`);
    database.close();
    const next = await store.createPet(callWith(), { name: 'Max', categoryId: '1' });
    expect(BigInt(next.id)).toBe(BigInt(id) + 1n);
  });

  it('writes ahead to a log, and reads filters and pages off an index', async () => {
    await using _store = await openBuiltin(`file:${folder}/plan.db`);
    const database = new DatabaseSync(`${folder}/plan.db`);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN SELECT * FROM pets WHERE status = 'sold' ORDER BY id LIMIT 5`)
      .all();
    database.close();
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH pets USING INDEX pets_by_status (status=?)',
    ]);
  });

  it('accepts the demo key in a demo only, on the same file', async () => {
    const databaseUrl = `file:${folder}/demo.db`;
    await using demo = await openBuiltin(databaseUrl);
    expect(await demo.listPets(callWith(), {})).toHaveLength(12);
    await using production = await openPetStore(
      { kind: 'builtin', databaseUrl, demoKey: undefined },
      quiet,
    );
    await expect(production.listPets(callWith(), {})).rejects.toMatchObject({ status: 401 });
  });

  it('stores no API key', async () => {
    await using store = await openBuiltin(`file:${folder}/keys.db`);
    await store.listPets(callWith(), {});
    const database = new DatabaseSync(`${folder}/keys.db`);
    expect(database.prepare('SELECT count(*) AS keys FROM api_keys').get()).toEqual({ keys: 0 });
    database.close();
  });

  it('says which file can not be opened, and why', async () => {
    await expect(openBuiltin(`file:${folder}`)).rejects.toThrow(
      `DATABASE_URL: the database file:${folder} can not be opened: unable to open database file`,
    );
    await writeFile(`${folder}/text.db`, 'This is no database, and long enough to be sure of it.');
    await expect(openBuiltin(`file:${folder}/text.db`)).rejects.toThrow('file is not a database');
  });

  it('writes to the disk before it answers, and waits for others who write', async () => {
    const database = await openDatabase(`file:${folder}/pragmas.db`, quiet.log);
    const pragma = async (name: string) =>
      Object.values((await sql.raw(`PRAGMA ${name}`).execute(database)).rows[0] ?? {});
    // 2 is FULL: a commit outlives the loss of power.
    expect(await pragma('synchronous')).toEqual([2n]);
    expect(await pragma('busy_timeout')).toEqual([2000n]);
    await database.destroy();
  });
});
