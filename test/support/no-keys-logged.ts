import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** API keys, passwords and other secrets of tests, or the end of several. Most belong to what fails. */
const secrets = [
  'demo-key',
  'wrong-key',
  'secret-key',
  'hunter2',
  'correct-horse',
  'secret-of-the-operator',
];

/**
 * Global setup of the test run. It collects the log output of all gateways, in this process and in
 * others, and fails the run if the output contains one of the secrets.
 */
export async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-logs-'));
  process.env['TEST_LOGS'] = folder;
  // Shared by this run and all gateways that it starts, which then start in two thirds of the time.
  process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');
  return async () => {
    const files = await readdir(folder);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    await rm(folder, { recursive: true });
    const lines = texts.join('').split('\n');
    const leaks = lines.filter((line) => secrets.some((secret) => line.includes(secret)));
    if (leaks.length > 0) {
      throw new Error(`${leaks.length} log lines contain a secret. The first:\n${leaks[0]}`);
    }
    process.stdout.write(`No secrets in ${lines.length} log lines.\n`);
  };
}
