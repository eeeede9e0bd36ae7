import type { RequestBody } from './body.ts';
import type { HttpError } from './error.ts';
import type { BodyParts, HttpRequest, HttpResponse, RequestHead } from './http-message.ts';

/** A request as the edge sees it: it reads its body, and cancels it if its client leaves. */
export interface ServedRequest extends HttpRequest {
  readonly body: RequestBody;
  readonly scope: {
    readonly cancelled: Error | undefined;
    cancel(): void;
    follow(caller: { readonly signal: AbortSignal }): void;
    /** Ends a request whose response is not reported, such as that to a probe. */
    end(): void;
  };
  /** Reports an error, once. Returns the one to respond with. */
  reportError(error: unknown): HttpError;
  /** Ends a request whose body does not arrive, or that has no response. It is not reported. */
  fail(): void;
}

/** Serves requests: each is opened with its headers, and handled when its body has arrived. */
export interface RequestServer<Served extends ServedRequest = ServedRequest> {
  open(head: RequestHead): Served;
  /** Ends the request, or lets the body of a response in parts end it. Never rejects. */
  handle(request: Served): Promise<HttpResponse>;
  /** The bodies in parts that have not ended. */
  readonly streams: ReadonlySet<BodyParts>;
}
