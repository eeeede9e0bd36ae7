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
export interface EndedRequest {
  readonly requestId: string;
  readonly traceId: string | undefined;
  /** The GraphQL operation's type and name, or the method and path of any other request. */
  readonly title: string;
  /** The GraphQL operation; undefined for any other request. */
  readonly operation: { readonly type: string; readonly name: string | undefined } | undefined;
  readonly caller: Caller | undefined;
  /** The names that the application and its GraphQL library send. */
  readonly client: ClientName | undefined;
  readonly clientLibrary: ClientName | undefined;
  /** The origin of a preflight request that was refused. */
  readonly refusedOrigin: string | undefined;
  /** The HTTP status of the response. */
  readonly status: number;
  /** The codes of the errors in the result, one per error. */
  readonly codes: readonly string[];
  readonly ms: number;
  /** The time to the first part of a response in parts. */
  readonly firstPartMs: number | undefined;
  readonly calls: readonly CallRecord[];
}
