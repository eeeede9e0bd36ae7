import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Creates a folder, which is removed after the tests of the calling file or `describe`. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
