import { Share } from '../limits/share.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** The limits of the bytes that a process holds for its clients. */
export type ByteLimits = ReturnType<typeof createByteLimits>;

const MiB = 1024 * 1024;

/** Creates the limits of a process, which its metrics show. */
export function createByteLimits(metrics: Pick<Metrics, 'watchLimit'>) {
  const limits = {
    /** Request bodies, each until its response is complete. The first 16 KiB do not count. */
    bodyBytes: new Share('body_bytes', { total: 32 * MiB, perKey: 8 * MiB }),
    /** What was read from connections, but not parsed. */
    unparsedBytes: new Share('unparsed_bytes', { total: 16 * MiB, perKey: 4 * MiB }),
    /** Text responses that were written to connections, but not read by their clients. */
    unreadBytes: new Share('unread_bytes', { total: 32 * MiB, perKey: 24 * MiB }),
  };
  for (const limit of Object.values(limits)) metrics.watchLimit(limit);
  return limits;
}
