import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../src/backends/builtin/database.ts';
import { describeOnEveryDatabase } from '../../support/databases.ts';
import { quiet } from '../../support/log.ts';
import { nodeStart } from '../../support/process.ts';

const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };

it('backs up SQLite with the command in docs/production.md during writes', async () => {
  const docs = await readFile(new URL('../../../docs/production.md', import.meta.url), 'utf8');
  const [, script = ''] = /^node --eval "(.*)"$/m.exec(docs) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-backup-'));
  await mkdir(join(folder, 'data'));
  try {
    const names: string[] = [];
    let isOver = false;
    {
      const file = join(folder, 'data/pet-store.db');
      await using gateway = await nodeStart({ DATABASE_URL: `file:${file}` });
      const writing = (async () => {
        for (let index = 0; !isOver; index++) {
          const body = JSON.stringify({ name: `pet ${index}`, categoryId: 1 });
          const response = await fetch(`${gateway.url}/v1/pets`, { method: 'POST', headers, body });
          expect(response.status).toBe(201);
          names.push(`pet ${index}`);
        }
      })();
      await expect.poll(() => names.length).toBeGreaterThan(50);
      const before = names.length;
      await promisify(execFile)(process.execPath, ['--eval', script], { cwd: folder });
      isOver = true;
      await writing;
      names.length = before;
    }
    const restored = join(folder, 'restored.db');
    await copyFile(join(folder, 'backup.db'), restored);
    const database = await openDatabase(`file:${restored}`, quiet.log);
    const rows = await database.selectFrom('pets').select('name').execute();
    await database.destroy();
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  } finally {
    await rm(folder, { recursive: true });
  }
}, 30_000);

describeOnEveryDatabase('a database that was migrated by a newer version', (createDatabase) => {
  it('is rejected with an error that explains the solution', async () => {
    const url = await createDatabase();
    const database = await openDatabase(url, quiet.log);
    const at = new Date().toISOString();
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', ${at})`.execute(
      database,
    );
    await database.destroy();
    await expect(openDatabase(url, quiet.log)).rejects.toThrow(
      /is newer than this version of petstore-gateway, which does not have its migration 9999-later\. Run the version that migrated it or a later one, or restore the backup/,
    );
  });
});
