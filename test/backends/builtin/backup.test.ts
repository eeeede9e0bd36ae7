import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { backUp, openAdministration } from '../../../src/petstore/open.ts';
import { openDatabase } from '../../support/database.ts';
import { describeOnEveryDatabase, onDatabase } from '../../support/databases.ts';
import { createFolder } from '../../support/folder.ts';
import { quiet } from '../../support/log.ts';
import { nodeStart, runCommand } from '../../support/process.ts';

const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };

describe('the backup of an SQLite database', () => {
  let folder: string;
  let source: string;
  const file = () => join(folder, 'backup.db');
  const all = createFolder();
  beforeEach(async () => {
    folder = await mkdtemp(join(all, 'backup-'));
    source = `file:${join(folder, 'pet-store.db')}`;
  });

  async function* lines(count: number) {
    for (let id = 1; id <= count; id++) {
      yield Buffer.from(`{"id":${id},"name":"pet ${id}","categoryId":1}`);
    }
  }

  async function namesIn(databaseUrl: string): Promise<string[]> {
    const rows = await onDatabase(databaseUrl, (database) =>
      database.selectFrom('pets').select('name').execute(),
    );
    return rows.map(({ name }) => String(name));
  }

  const backup = (databaseUrl: string, ...args: string[]) =>
    runCommand(['backup', ...args], { DATABASE_URL: databaseUrl }, folder);

  it('ends during writes, with everything that was acknowledged before it began', async () => {
    {
      await using administration = await openAdministration(source, quiet.log);
      await administration.importLines('pets', lines(50_000));
    }
    await using gateway = await nodeStart({ DATABASE_URL: source, DEMO: 'on' });
    const names: string[] = [];
    let isOver = false;
    const write = async (writer: number) => {
      for (let index = 0; !isOver; index++) {
        const name = `writer ${writer} ${index}`;
        const body = JSON.stringify({ name, categoryId: 1 });
        const response = await fetch(`${gateway.url}/v1/pets`, { method: 'POST', headers, body });
        expect(response.status).toBe(201);
        names.push(name);
      }
    };
    const writing = [1, 2, 3, 4].map(write);
    const acknowledged: string[] = [];
    let bytes = 0;
    try {
      await expect.poll(() => names.length, { timeout: 60_000 }).toBeGreaterThan(50);
      acknowledged.push(...names);
      ({ bytes } = JSON.parse((await backup(source, 'backup.db', '--json')).stdout));
      expect(names.length).toBeGreaterThan(acknowledged.length);
    } finally {
      isOver = true;
      await Promise.all(writing);
    }
    const { size, mode } = await stat(file());
    expect([size, mode & 0o777]).toEqual([bytes, 0o600]);
    expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('.partial'));
    const restored = new Set(await namesIn(`file:${file()}`));
    expect(acknowledged.filter((name) => !restored.has(name))).toEqual([]);
    expect(restored.has('pet 50000')).toBe(true);
  });

  it('overwrites no file, and prints its result as text or JSON', async () => {
    await using _ = await openAdministration(source, quiet.log);
    const { stdout: text } = await backup(source, 'backup.db');
    expect(text).toMatch(/^Backed up the database to backup\.db \([\d,]+ kB\)\.\n$/);
    const first = await readFile(file());
    expect(await backup(source, 'backup.db')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'backup.db already exists. Nothing was backed up.\n',
    });
    expect(await readFile(file())).toEqual(first);
    const lost = await backup(source, 'missing/backup.db');
    expect(lost.stderr).toBe('missing/backup.db: no such file or directory\n');
    const { stdout } = await backup(source, 'second.db', '--json');
    expect(JSON.parse(stdout)).toEqual({ file: 'second.db', bytes: first.length });
  });

  it('does not overwrite a file that appears while it works', async () => {
    await using _ = await openAdministration(source, quiet.log);
    const work = backUp(source, file());
    const others: unknown = expect.arrayContaining([expect.stringMatching(/\.partial$/)]);
    while (!readdirSync(folder).some((name) => name.endsWith('.partial'))) await setImmediate();
    writeFileSync(file(), 'of another process');
    await expect(work).rejects.toThrow('the backup failed: EEXIST');
    expect(await readFile(file(), 'utf8')).toBe('of another process');
    expect(await readdir(folder)).not.toEqual(others);
  });

  it('does not migrate the database', async () => {
    await using _ = await openAdministration(source, quiet.log);
    const old = new DatabaseSync(join(folder, 'old.db'));
    old.exec('create table pets (id integer primary key)');
    old.close();
    await backUp(`file:${join(folder, 'old.db')}`, file());
    const copy = new DatabaseSync(file());
    const tables = copy.prepare('select name from sqlite_schema').all();
    copy.close();
    expect(tables).toEqual([expect.objectContaining({ name: 'pets' })]);
  });

  it('leaves nothing behind if the database is missing, damaged or no file', async () => {
    const path = join(folder, 'damaged.db');
    const damaged = new DatabaseSync(path);
    damaged.exec('begin; create table pets (id integer primary key, name text)');
    const insert = damaged.prepare('insert into pets (name) values (?)');
    for (let id = 0; id < 2000; id++) insert.run(`pet ${id}`);
    damaged.exec('commit');
    damaged.close();
    const bytes = await readFile(path);
    for (let page = 2; page * 4096 < bytes.length; page++)
      bytes.fill('A', page * 4096 + 3000, page * 4096 + 3010);
    await writeFile(path, bytes);
    await writeFile(join(folder, 'text.db'), 'text');
    const failures = [
      ['damaged.db', 'the backup failed: the copy is damaged: '],
      ['text.db', 'the backup failed: file is not a database'],
      ['missing.db', 'ENOENT: no such file or directory'],
    ] as const;
    const files = await readdir(folder);
    for (const [name, message] of failures) {
      const work = backUp(`file:${join(folder, name)}`, file());
      await expect(work).rejects.toThrow(message);
      expect(await readdir(folder)).toEqual(files);
    }
    await expect(backUp(':memory:', file())).rejects.toThrow('expected a database in a');
  });

  it('prints the command to run for PostgreSQL, without the password', async () => {
    const { code, stderr } = await backup('postgres://me:hunter2@127.0.0.1/pets', "it's.dump");
    expect([code, stderr]).toEqual([
      1,
      `Nothing was backed up, because PostgreSQL has a command for it. Run it with DATABASE_URL of PostgreSQL itself, not of PgBouncer:\n  pg_dump --format=custom --file='it'\\''s.dump' "$DATABASE_URL"\n`,
    ]);
  });
});

describeOnEveryDatabase('a database that was migrated by a newer version', (createDatabase) => {
  it('is rejected with an error that explains the solution', async () => {
    const url = await createDatabase();
    const at = new Date().toISOString();
    const later = sql`insert into kysely_migration (name, timestamp) values ('9999-later', ${at})`;
    await onDatabase(url, (database) => later.execute(database));
    await expect(openDatabase(url, quiet.log)).rejects.toThrow(
      /is newer than this version of petstore-gateway, which does not have its migration 9999-later\. Run the version that migrated it or a later one, or restore the backup/,
    );
  });
});
