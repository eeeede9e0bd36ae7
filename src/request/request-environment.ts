import type { BodyParts, RequestHeaders } from '../http/http-message.ts';
import { ApiKeys } from '../keys/api-keys.ts';
import type { Limit } from '../limits/limit.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** What all requests of a process share. */
export interface RequestEnvironment {
  readonly telemetry: Telemetry;
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
  return { telemetry, keys, bodyBytes, streams: new Set() };
}

/** What a request begins with; without a scheme if its caller is in this process. */
export interface RequestHead {
  readonly method: string;
  readonly scheme?: 'http' | 'https';
  readonly path: string;
  readonly search?: string;
  readonly headers: RequestHeaders;
  /** The lower-case names of headers that it has more than once, if the server shows it. */
  readonly repeated?: readonly string[] | undefined;
  readonly mayStream?: boolean;
}

/** How an operation is reported. Its name is truncated, because clients choose it. */
export interface OperationLabel {
  readonly type: string;
  readonly name: string | undefined;
  /** Both, as the log shows them. */
  readonly title: string;
}
