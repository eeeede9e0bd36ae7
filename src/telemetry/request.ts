import type { RequestRecord } from './request-record.ts';

/** The start of a request; without a scheme if its caller is in this process. */
export interface RequestLine {
  readonly method: string;
  readonly scheme?: string;
  readonly path: string;
}

/** The name by which a client identifies itself, unverified; only for logs and metrics. */
export interface ClientName {
  readonly name: string;
  readonly version: string | undefined;
}

/** Who made a request, if the backend has identified the caller. */
export type Caller = Readonly<Partial<Record<'account' | 'keyId' | 'credential', string>>>;

/** One call to the REST service, as the log shows it. */
export interface CallRecord {
  readonly operation: string;
  /** The HTTP status, or the kind of failure. */
  readonly status: number | string;
  readonly ms: number;
}

/** A request that has ended, for the log, the metrics and the trace. */
export type EndedRequest = ReturnType<RequestRecord['summarize']>;
