import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounts a file system of 64 KiB. @returns undefined if this user may not mount. */
export function mountSmallDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  const other = join(folder, 'other');
  return {
    folder,
    /** Takes half of the space. */
    occupy: () => writeFile(other, Buffer.alloc(32 * 1024)),
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
  process.stdout.write('Tests of a full log disk are SKIPPED: mounting needs root.\n');
}
