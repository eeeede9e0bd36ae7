import { Share } from '../limits/share.ts';

const MiB = 1024 * 1024;

/** The limits of the bytes that a process holds for its clients. */
export type ByteLimits = ReturnType<typeof createByteLimits>;

/** Creates the limits of a process. */
export function createByteLimits() {
  return {
    /** Request bodies, each until its response is complete. The first 16 KiB do not count. */
    bodyBytes: new Share('body_bytes', { total: 32 * MiB, perKey: 8 * MiB }),
    /** What was read from connections, but not parsed. */
    unparsedBytes: new Share('unparsed_bytes', { total: 16 * MiB, perKey: 4 * MiB }),
  };
}
