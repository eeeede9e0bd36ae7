import { vi } from 'vitest';

const { waitFor } = vi;

/** By default, `vi.waitFor` gives up after one second, which is short on a busy machine. */
vi.waitFor = (condition, options) =>
  waitFor(condition, typeof options === 'number' ? options : { timeout: 60_000, ...options });
