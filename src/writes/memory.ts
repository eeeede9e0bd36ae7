import type { ApiKey } from '../keys/api-key.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { notStored, type StoredWrite, type WriteStore } from './remembered-writes.ts';

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

  function forget(name: string, { key, bytes }: Entry): void {
    writes.delete(name);
    limit.release(key, bytes);
  }

  /** Takes bytes for a key. If its share has too few, forgets many writes at once, so that few calls search. */
  function take(key: ApiKey, bytes: number): boolean {
    const share = limit.refuses(key, bytes);
    if (share === undefined) limit.add(key, bytes);
    if (share === undefined) return true;
    let freed = 0;
    for (const [name, entry] of writes) {
      if (freed >= Math.max(bytes, total / 64)) break;
      const isOther = share === 'key' ? entry.key !== key : entry.key.isAccepted && share !== 'all';
      if (isOther || entry.result === undefined) continue;
      freed += entry.bytes;
      forget(name, entry);
      metrics.forgottenWrites.inc();
    }
    return freed > 0 && take(key, bytes);
  }

  return {
    begin({ key }, name, write) {
      const startedAt = performance.now();
      for (const [old, entry] of writes) {
        if (entry.startedAt > startedAt - day) break;
        if (entry.result !== undefined) forget(old, entry);
      }
      const found = writes.get(name);
      if (found !== undefined) return found;
      // The `Authorization` header is kept with the key.
      const bytes = bytesPerWrite + 2 * key.credential.length;
      if (!take(key, bytes))
        throw notStored('Too many writes with an Idempotency-Key are in flight.');
      writes.set(name, { ...write, key, startedAt, bytes, result: undefined });
      return undefined;
    },
    end(name, write) {
      const entry = writes.get(name);
      const result = write?.result;
      // A caller that left at once may have found a result.
      if (entry === undefined || (entry.result !== undefined && result === undefined)) return;
      // In UTF-16.
      const more = 2 * ((result?.length ?? 0) - (entry.result?.length ?? 0));
      entry.result = undefined;
      if (result === undefined || !take(entry.key, more)) return forget(name, entry);
      entry.bytes += more;
      entry.result = result;
    },
    async [Symbol.asyncDispose]() {},
  };
}
