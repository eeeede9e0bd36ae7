import { BackendUnavailableError } from '../contract/error.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { RefusedBy } from '../limits/limit.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { StoredWrite, WriteStore } from './remembered-writes.ts';

/** A write, and the bytes that it uses. */
interface Entry extends StoredWrite {
  readonly key: ApiKey;
  readonly startedAt: number;
  bytes: number;
  result: string | undefined;
}

const day = 24 * 60 * 60 * 1000;

/** What a write and its key use besides the result and the credential, in bytes. */
const bytesPerWrite = 768;

/**
 * Keeps writes in the memory of the process. One key may use a quarter of it, and keys that were never
 * accepted half; beyond that, the oldest ended writes of the share are forgotten.
 */
export function openWriteMemory(
  keys: ApiKeys,
  metrics: Metrics,
  total = 64 * 1024 * 1024,
): WriteStore {
  const shares = { total, perKey: total / 4, unaccepted: total / 2 };
  const limit = keys.openLimit('idempotency_bytes', shares);
  metrics.watchLimit(limit);
  /** In the order of their start. */
  const writes = new Map<string, Entry>();

  function remove(name: string, { key, bytes }: Entry): void {
    writes.delete(name);
    limit.release(key, bytes);
  }

  /** Takes bytes of the share of a key. Returns whether there is room, also by what it forgets. */
  function take(key: ApiKey, bytes: number): boolean {
    for (;;) {
      const refusedBy = limit.refuses(key, bytes);
      if (refusedBy === undefined) limit.add(key, bytes);
      if (refusedBy === undefined || !evict(refusedBy, key, bytes)) return refusedBy === undefined;
    }
  }

  /** Forgets the oldest ended writes of a share, many at once so that few writes search. */
  function evict(share: RefusedBy, key: ApiKey, bytes: number): boolean {
    let freed = 0;
    for (const [name, entry] of writes) {
      if (freed >= Math.max(bytes, total / 64)) break;
      const isOfKey = share === 'key' ? entry.key === key : !entry.key.isAccepted;
      if (entry.result === undefined || !(isOfKey || share === 'all')) continue;
      freed += entry.bytes;
      remove(name, entry);
      metrics.forgottenWrites.inc();
    }
    return freed > 0;
  }

  return {
    begin({ key }, name, fingerprint) {
      const startedAt = performance.now();
      for (const [old, entry] of writes) {
        if (entry.startedAt > startedAt - day) break;
        if (entry.result !== undefined) remove(old, entry);
      }
      const found = writes.get(name);
      if (found !== undefined) return found;
      // The `Authorization` header is kept with the key.
      const bytes = bytesPerWrite + 2 * key.credential.length;
      if (!take(key, bytes)) {
        const problem = 'Too many writes with an Idempotency-Key are in flight.';
        const more = { writeOutcome: 'NOT_DONE', retryAfterMs: 1000 } as const;
        throw new BackendUnavailableError(problem, more);
      }
      writes.set(name, { key, fingerprint, startedAt, bytes, result: undefined });
      return undefined;
    },
    end(name, write) {
      const entry = writes.get(name);
      if (entry === undefined) return;
      const { result } = write ?? {};
      // In UTF-16.
      const more = 2 * ((result?.length ?? 0) - (entry.result?.length ?? 0));
      if (result === undefined) return remove(name, entry);
      entry.result = undefined;
      if (!take(entry.key, more)) return remove(name, entry);
      entry.bytes += more;
      entry.result = result;
    },
    async [Symbol.asyncDispose]() {},
  };
}
