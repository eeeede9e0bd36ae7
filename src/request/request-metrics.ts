import type { Caller, ServiceCall } from '../contract/pet-store.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { EndedRequest } from '../telemetry/trace.ts';

/** What is measured of a GraphQL request; see the record. */
interface MeasuredRequest
  extends Pick<EndedRequest, 'requestId' | 'operation' | 'codes' | 'firstPartMs'> {
  readonly trace: { readonly traceId: string | undefined } | undefined;
  readonly key: ApiKey;
  readonly clientName: string | undefined;
  readonly usedKey: boolean;
  readonly deprecatedFields: readonly string[];
}

/** Counts and times a GraphQL request. Only clients with an accepted key get their own labels. */
export function measureRequest(request: MeasuredRequest, metrics: Metrics, seconds: number): void {
  const { requestId, codes, firstPartMs, key, trace } = request;
  const operation = metrics.operationLabel(request.operation?.name, key.isAccepted);
  const outcome = codes.length === 0 ? 'success' : 'error';
  metrics.requests.observe({ operation, outcome }, seconds);
  if (firstPartMs !== undefined) metrics.firstParts.observe({ operation }, firstPartMs / 1000);
  for (const code of codes) {
    const exemplarLabels = { request_id: requestId, trace_id: trace?.traceId ?? '' };
    metrics.errors.inc({ labels: { code }, value: 1, exemplarLabels });
  }
  if (!request.usedKey || request.deprecatedFields.length === 0) return;
  const client = metrics.clientLabel(request.clientName, key.isAccepted);
  for (const field of request.deprecatedFields) {
    metrics.deprecatedFieldUses.inc({ field, operation, client });
  }
}

/** Returns the milliseconds in which none of the calls, in the order of their starts, was in flight. */
export function timeWithoutCalls(
  start: number,
  end: number,
  calls: readonly Pick<ServiceCall, 'startedAt' | 'outcome' | 'ms'>[],
): number {
  let without = 0;
  let coveredUntil = start;
  for (const { startedAt, outcome, ms } of calls) {
    // A read that was joined may have started before.
    if (startedAt > coveredUntil) without += startedAt - coveredUntil;
    coveredUntil = Math.max(coveredUntil, outcome === undefined ? end : startedAt + ms);
  }
  return without + Math.max(0, end - coveredUntil);
}

/** Returns what the log shows of the calls that were started for a request. A write may go on. */
export function reportCalls(request: Pick<Caller, 'calls'>, now: number) {
  const reported = [];
  for (const { caller, operation, outcome, startedAt, ms } of request.calls) {
    if (caller !== request) continue;
    const duration = outcome === undefined ? now - startedAt : ms;
    reported.push({ operation, status: outcome ?? 'inFlight', ms: rounded(duration) });
  }
  return reported;
}

/** Rounds milliseconds to two digits. */
export function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
