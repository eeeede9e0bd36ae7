import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultLimits } from '../../../src/backends/rest/origin.ts';
import { errorBodyLimits } from '../../../src/backends/rest/response.ts';

it('the limits of a REST call are those in docs/reliability.md', async () => {
  const file = join(import.meta.dirname, '../../../docs/reliability.md');
  const text = (await readFile(file, 'utf8')).replaceAll(/\s+/g, ' ');
  const limits = defaultLimits;
  const mebibytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`;
  const seconds = (ms: number) => `${ms / 1000} s`;
  const words: Readonly<Record<number, string>> = { 10: 'ten' };
  for (const sentence of [
    `${seconds(limits.connectTimeoutMs)} to connect`,
    `once it is ${seconds(limits.maxConnectionAgeMs)} old`,
    `Bodies use at most ${mebibytes(limits.maxBufferedBytes)}`,
    `a success has at most ${mebibytes(limits.maxResponseBytes)} when decoded`,
    `at most ${limits.maxConnections} calls in flight, and ${limits.maxWaiting.toLocaleString('en')} queued`,
    `after ${words[limits.breakAfterFailures]} failures in a row; after ${seconds(limits.halfOpenAfterMs)} one call`,
    `an error is cut after ${errorBodyLimits.maxBytes / 1024} KiB or ${seconds(errorBodyLimits.timeoutMs)}`,
  ]) {
    expect(text).toContain(sentence);
  }
});
