import type { HttpError } from './error.ts';

/** The headers of a request that anything here reads; of others a translator need not know. */
export const requestHeaders = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'apollographql-client-name',
  'apollographql-client-version',
  'authorization',
  'content-type',
  'graphql-client-name',
  'graphql-client-version',
  'host',
  'if-none-match',
  'origin',
  'traceparent',
  'tracestate',
  'x-request-id',
] as const;

/** Header values by lower-case name; the values of a repeated header are joined by a comma. */
export type RequestHeaders = Readonly<
  Partial<Record<(typeof requestHeaders)[number], string | undefined>>
>;

/** An HTTP request as plain data, whatever server received it. */
export interface HttpRequest {
  readonly method: string;
  /** The path of the request target, percent-encoding included: `/v1/pets`. */
  readonly path: string;
  /** What follows the `?` of the request target; empty when there is none. */
  readonly search: string;
  readonly headers: RequestHeaders;
  /** The bytes of the body, empty when there is none, or why they were not kept. */
  readonly body: Uint8Array | HttpError;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** An HTTP response as plain data. The translator adds `content-length`. */
export interface HttpResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Record<string, string>;
  /** Bytes may be shared by several responses. */
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** Answers requests. Never rejects. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;
