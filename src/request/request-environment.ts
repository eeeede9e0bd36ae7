import type { BodyParts } from '../http/http-message.ts';
import { createReportError, type ReportError } from '../http/refusal.ts';
import { ApiKeys } from '../keys/api-keys.ts';
import type { Limit } from '../limits/limit.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** What all requests of a process share. */
export interface RequestEnvironment {
  readonly telemetry: Telemetry;
  readonly reportError: ReportError;
  /** The API keys in use. */
  readonly keys: ApiKeys;
  /** Limits the bytes of request bodies, each until its request ends. */
  readonly bodyBytes: Limit;
  /** The bodies in parts whose requests have not ended. */
  readonly streams: Set<BodyParts>;
}

const MiB = 1024 * 1024;

/** Creates what the requests of a process share. */
export function createEnvironment(telemetry: Telemetry, keys = new ApiKeys()): RequestEnvironment {
  const limits = { total: 32 * MiB, perKey: 8 * MiB, unaccepted: 16 * MiB };
  const bodyBytes = keys.openLimit('body_bytes', limits);
  telemetry.metrics.watchLimit(bodyBytes);
  const reportError = createReportError(telemetry);
  return { telemetry, reportError, keys, bodyBytes, streams: new Set() };
}
