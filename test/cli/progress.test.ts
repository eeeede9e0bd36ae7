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
    let bytes = 0;
    {
      using _ = showProgress(() => {
        bytes += 1_234_567_890;
        return bytes;
      }, 3_000_000_000);
      await vi.waitFor(() => expect(written.mock.calls.length).toBeGreaterThan(1));
    }
    expect(written.mock.calls[0]).toEqual(['\r1,235 of 3,000 MB']);
    expect(written.mock.calls.at(-1)).toEqual(['\r\x1b[K']);
  });

  it('has no total if that is not known, and is not shown elsewhere', async () => {
    process.stderr.isTTY = true;
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    {
      using _ = showProgress(() => 0);
      await vi.waitFor(() => expect(written).toHaveBeenCalledWith('\r0 MB'));
    }
    process.stderr.isTTY = false;
    written.mockClear();
    showProgress(() => 0)[Symbol.dispose]();
    expect(written).not.toHaveBeenCalled();
  });
});
