import type { BodyBudget } from '../http/body.ts';
import type { HttpError } from '../http/error.ts';
import type { BodyParts } from '../http/http-message.ts';
import { createReportError, Refusal, type ReportError } from '../http/refusal.ts';
import type { ApiKey } from '../keys/api-key.ts';
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

/** The bytes of the body of one request in the limit of all. */
export class BodyBytes implements BodyBudget {
  readonly #limit: Limit;
  readonly #key: ApiKey;

  constructor(limit: Limit, key: ApiKey) {
    this.#limit = limit;
    this.#key = key;
  }

  get isAnonymous(): boolean {
    return this.#key.credential === '';
  }

  take(bytes: number): HttpError | undefined {
    const refusedBy = this.#limit.take(this.#key, bytes);
    if (refusedBy === undefined) return undefined;
    return new Refusal(refusedBy === 'key' ? 'body_bytes_of_key' : 'body_bytes');
  }

  release(bytes: number): void {
    this.#limit.release(this.#key, bytes);
  }
}
