import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every key that a test sends. Most are sent hundreds of times, in ways that fail. */
const keys = ['demo-key', 'wrong-key', 'faults-secret-key'];

/**
 * Runs around the whole test run: collects all that the gateways in it logged, in this process and
 * in others, and fails the run when a key is in it.
 */
export async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-logs-'));
  process.env['TEST_LOGS'] = folder;
  return async () => {
    const files = await readdir(folder);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    await rm(folder, { recursive: true });
    const lines = texts.join('').split('\n');
    const told = lines.filter((line) => keys.some((key) => line.includes(key)));
    if (told.length > 0) {
      throw new Error(`A key was logged, in ${told.length} lines. The first:\n${told[0]}`);
    }
    process.stdout.write(`No key in ${lines.length} lines that were logged.\n`);
  };
}
