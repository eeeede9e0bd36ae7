import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAdministration } from '../../src/petstore/open.ts';
import { callWith, openBuiltin } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { canMount, mountSmallDisk } from '../support/small-disk.ts';

/** Mounts a disk of 2 MiB for a database. */
function mountDisk() {
  const disk = mountSmallDisk('2m');
  if (disk === undefined) throw new Error('cannot mount');
  const { folder } = disk;
  return {
    ...disk,
    databaseUrl: `file:${join(folder, 'pet-store.db')}`,
    /** Takes all of the space that is free. */
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      return disk.occupy(bavail * bsize);
    },
  };
}

describe.skipIf(!canMount)('SQLite on a full or read-only disk', () => {
  const keyed = { id: 'a', fingerprint: '' };
  it.each([undefined, keyed])('reports that nothing was stored of the write %o', async (write) => {
    using disk = mountDisk();
    await using store = await openBuiltin(disk.databaseUrl);
    await disk.fill();
    const add = () => store.createPet(callWith(), { name: 'Rex', categoryId: '1' }, write);
    const full = "The store's database has no space left. Nothing was stored. Try again later.";
    await expect(add()).rejects.toMatchObject({ writeOutcome: 'NOT_DONE', message: full });
    await disk.release();
    expect((await add()).name).toBe('Rex');
  });

  it('names a folder in which WAL cannot create files, because the disk is read-only', async () => {
    using disk = mountDisk();
    await (await openBuiltin(disk.databaseUrl))[Symbol.asyncDispose]();
    execFileSync('mount', ['-o', 'remount,ro', disk.folder]);
    await expect(openBuiltin(disk.databaseUrl)).rejects.toThrow(
      `unable to open database file: files cannot be created in the folder ${disk.folder}`,
    );
  });

  it('reports that a new database does not fit on it', async () => {
    using disk = mountSmallDisk();
    const url = `file:${join(disk?.folder ?? '', 'pet-store.db')}`;
    await expect(openAdministration(url, quiet.log)).rejects.toThrow('database or disk is full');
  });
});
