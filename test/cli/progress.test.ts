import { afterEach, expect, it, vi } from 'vitest';
import { showProgress } from '../../src/cli/progress.ts';

const { isTTY } = process.stderr;
afterEach(() => {
  vi.restoreAllMocks();
  process.stderr.isTTY = isTTY;
});

it.each([
  [3e9, ['\r1,235 of 3,000 MB', '\r2,469 of 3,000 MB', '\r\x1b[K']],
  [undefined, ['\r1,235 MB', '\r2,469 MB', '\r\x1b[K']],
])('shows progress as one line of a terminal, which is cleared in the end: of %s', async (total, lines) => {
  process.stderr.isTTY = true;
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { promise, reject } = Promise.withResolvers<void>();
  let bytes = 0;
  const done = () => {
    bytes += 1_234_567_890;
    if (bytes > 2e9) reject(new Error('full'));
    return bytes;
  };
  await expect(showProgress(promise, done, total)).rejects.toThrow('full');
  expect(written.mock.calls).toEqual(lines.map((line) => [line]));
  process.stderr.isTTY = false;
  expect(showProgress(promise, done)).toBe(promise);
});
