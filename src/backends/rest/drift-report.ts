import type { Drift } from '../../contract/drift.ts';
import type { Caller } from '../../contract/pet-store.ts';
import { redactKey } from '../../contract/redact-key.ts';
import type { Reporting } from '../../telemetry/telemetry.ts';

/** How long a kind of difference is not logged again, in milliseconds. */
const logIntervalMs = 60 * 60 * 1000;

/**
 * Creates a function that counts a difference between a response and the contract, and logs the first
 * of each kind per hour.
 */
export function createDriftReport({ log, metrics }: Reporting) {
  const loggedAt = new Map<Drift['kind'], number>();

  /** Returns a label. The service chooses the names of unknown members, and may repeat the key. */
  function labelOf({ kind, field }: Drift, apiKey: string): string {
    if (kind !== 'unknown_member') return field;
    const name = /^[\w.:$@-]{1,64}$/.test(field) ? redactKey(field, apiKey) : undefined;
    return metrics.memberLabel(name);
  }

  return ({ key, requestId }: Caller, operation: string, drift: Drift): void => {
    const { kind } = drift;
    const field = labelOf(drift, key.credential);
    metrics.contractDrift.inc({ operation, kind, field });
    const now = performance.now();
    if (now - (loggedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < logIntervalMs) return;
    loggedAt.set(kind, now);
    log.warn({ requestId, operation, kind, field }, 'a REST response differs from the contract');
  };
}
