import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TracedHead } from '../telemetry/trace.ts';

/** Header values by lower-case name; repeated headers are joined with commas. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** What a request begins with, independent of the server that received it. */
export interface RequestHead extends TracedHead {
  /** The query string without the `?`. */
  readonly search?: string;
  readonly headers: RequestHeaders;
  /** The lower-case names of headers that it has more than once, if the server shows it. */
  readonly repeated?: readonly string[] | undefined;
  /** Whether the response may have a body in parts; HTTP/1.0 has no chunked encoding. */
  readonly mayStream?: boolean;
}

/** A body in parts. Read it to the end, or call `return` to cancel the rest. */
export interface BodyParts extends AsyncIterableIterator<string, undefined> {
  return(): Promise<IteratorReturnResult<undefined>>;
  /** Ends the body early: pending calls time out, and the next part is the last. */
  end(): void;
}

/** An HTTP response as plain data. The translator adds `content-length` if it is known. */
export interface HttpResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Record<string, string>;
  /** Several responses may share the same bytes. Empty if the body is in parts. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly parts?: BodyParts;
}

/** A handler of WHATWG Fetch requests, as in Hono, Next and Deno. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A request listener for `node:http` servers. It settles when the response has closed, for which h3 waits. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
