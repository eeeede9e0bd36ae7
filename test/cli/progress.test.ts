import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { showProgress } from '../../src/cli/progress.ts';

describe('the progress of long work', () => {
  const { isTTY } = process.stderr;
  afterEach(() => {
    vi.restoreAllMocks();
    process.stderr.isTTY = isTTY;
  });

  it('is one line of a terminal, which is cleared in the end', async () => {
    process.stderr.isTTY = true;
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { promise, resolve } = Promise.withResolvers<string>();
    let bytes = 0;
    const done = () => {
      bytes += 1_234_567_890;
      if (bytes > 2e9) resolve('ended');
      return bytes;
    };
    expect(await showProgress(promise, done, 3_000_000_000)).toBe('ended');
    expect(written.mock.calls).toEqual([
      ['\r1,235 of 3,000 MB'],
      ['\r2,469 of 3,000 MB'],
      ['\r\x1b[K'],
    ]);
  });

  it('has no total if that is not known, and is not shown elsewhere', async () => {
    process.stderr.isTTY = true;
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { promise, reject } = Promise.withResolvers<void>();
    const shown = showProgress(promise, () => {
      reject(new Error('full'));
      return 0;
    });
    await expect(shown).rejects.toThrow('full');
    expect(written.mock.calls).toEqual([['\r0 MB'], ['\r\x1b[K']]);
    process.stderr.isTTY = false;
    written.mockClear();
    await showProgress(wait(0), () => 0);
    expect(written).not.toHaveBeenCalled();
  });
});
