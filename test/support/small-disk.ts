import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounts a file system of this size. @returns undefined if this user may not mount. */
export function mountSmallDisk(size = '64k') {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${size}`];
    execFileSync('mount', [...options, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  const other = join(folder, 'other');
  return {
    folder,
    /** Takes this much of the space, by default half of 64 KiB. */
    occupy: (bytes = 32 * 1024) => writeFile(other, Buffer.alloc(bytes)),
    /** Returns that space. */
    release: () => rm(other),
    [Symbol.dispose]() {
      // A process that is still exiting may have a file open.
      execFileSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}

/** Whether file systems can be mounted, which needs root. */
export const canMount = (() => {
  using disk = mountSmallDisk();
  return disk !== undefined;
})();

if (!canMount) {
  process.stdout.write('Tests of full disks are SKIPPED: mounting needs root.\n');
}
