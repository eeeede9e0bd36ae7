import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  it('says what is wrong when the file can not be opened', async () => {
    await expect(openBuiltin(`file:${folder}`)).rejects.toThrow('unable to open database file');
  });
});
