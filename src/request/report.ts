import type { Caller, ServiceCall } from '../contract/caller.ts';
import type { RequestHead } from '../http/http-message.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ClientName } from './headers.ts';
import type { Scope } from './scope.ts';

/** How an operation is reported. Its name is truncated, because clients choose it. */
export interface OperationLabel {
  readonly type: string;
  readonly name: string | undefined;
  /** Both, as the log shows them. */
  readonly title: string;
  /** Its deprecated fields. They are counted if a field needed the key. */
  readonly deprecations: readonly { readonly field: string }[];
}

/** What is reported of a request, besides its calls. Each part of the gateway sets what it knows. */
export class Report {
  /** The HTTP status of the response. */
  status = 500;
  /** The GraphQL operation; undefined for other requests and until it is known. */
  operation: OperationLabel | undefined;
  /** The operation of the contract, if the request is for its REST interface. */
  v1Operation: string | undefined;
  /** The template of the path, such as `/v1/owners/{ownerId}`, if it is known. */
  route: string | undefined;
  /** The codes of the errors in the result, one per error. */
  codes: string[] = [];
  /** The origin of a preflight request that was refused. */
  refusedOrigin: string | undefined;
  /** The time to the first part of a response in parts, in milliseconds. */
  firstPartMs: number | undefined;
  /** Where its document is from, if that is reported. */
  documentSource: 'manifest' | 'sent' | undefined;
  /** The application that sent it, from the headers. */
  client: ClientName | undefined;
  /** The application's GraphQL library, from the parameters. */
  clientLibrary: ClientName | undefined;

  /** Whether the operation is a mutation, whose errors report what became of the write. */
  get isMutation(): boolean {
    return this.operation?.type === 'mutation';
  }

  /** The name of the application that sent it, or else of its GraphQL library. */
  get clientName(): string | undefined {
    return (this.client ?? this.clientLibrary)?.name;
  }
}

/** The most characters of each in the log. A host name has up to 253. */
const maxLength = { path: 256, origin: 270 };

/** Writes the log line of a request that has ended, its metrics and the end of its trace. */
export function writeReport(
  report: Report,
  scope: Scope,
  { method, path }: Pick<RequestHead, 'method' | 'path'>,
  { log, metrics }: Telemetry,
): void {
  const { operation, status, codes, v1Operation, firstPartMs } = report;
  const { requestId, identity, startedAt, calls, trace } = scope;
  const now = performance.now();
  const ms = rounded(now - startedAt);
  if (operation !== undefined || codes.length > 0)
    measureRequest(report, scope, metrics, ms / 1000);
  // A client that reads slowly delays the later parts of a response.
  if (operation !== undefined && calls.length > 0 && firstPartMs === undefined) {
    metrics.overhead.observe(timeWithoutCalls(startedAt, now, calls) / 1000);
  }
  if (v1Operation !== undefined) {
    metrics.v1Requests.observe({ operation: v1Operation, status }, ms / 1000);
  }
  if (scope.isReplayed) metrics.replays.inc();
  trace?.end({ ...report, requestId, identity });
  log.request({
    requestId,
    traceId: trace?.traceId,
    operation: operation?.title ?? `${method} ${path.slice(0, maxLength.path)}`,
    document: report.documentSource,
    client: report.client,
    clientLibrary: report.clientLibrary,
    refusedOrigin: report.refusedOrigin?.slice(0, maxLength.origin),
    status,
    codes: codes.length > 1 ? [...new Set(codes)] : codes,
    ms,
    firstPartMs: firstPartMs && rounded(firstPartMs),
    replayed: scope.isReplayed || undefined,
    calls: reportCalls(scope, now),
    ...identity,
  });
}

/** Counts and times a GraphQL request. Only clients with an accepted key get their own labels. */
function measureRequest(
  report: Report,
  { requestId, key, trace, usedKey }: Scope,
  metrics: Metrics,
  seconds: number,
): void {
  const { codes, firstPartMs } = report;
  const operation = metrics.operationLabel(report.operation?.name, key.isAccepted);
  const outcome = codes.length === 0 ? 'success' : 'error';
  metrics.requests.observe({ operation, outcome }, seconds);
  if (firstPartMs !== undefined) metrics.firstParts.observe({ operation }, firstPartMs / 1000);
  for (const code of codes) {
    const exemplarLabels = { request_id: requestId, trace_id: trace?.traceId ?? '' };
    metrics.errors.inc({ labels: { code }, value: 1, exemplarLabels });
  }
  const { deprecations = [] } = report.operation ?? {};
  if (!usedKey || deprecations.length === 0) return;
  const client = metrics.clientLabel(report.clientName, key.isAccepted);
  for (const { field } of deprecations) {
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
function reportCalls(scope: Pick<Caller, 'calls'>, now: number) {
  const reported: { operation: string; status: number | string; ms: number }[] = [];
  for (const { caller, operation, outcome, startedAt, ms } of scope.calls) {
    if (caller !== scope) continue;
    const duration = outcome === undefined ? now - startedAt : ms;
    reported.push({ operation, status: outcome ?? 'inFlight', ms: rounded(duration) });
  }
  return reported;
}

/** Rounds milliseconds to two digits. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
