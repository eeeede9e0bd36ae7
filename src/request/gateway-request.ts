import { RequestBody } from '../http/body.ts';
import { type HttpError, internalError } from '../http/error.ts';
import type { BodyParts, HttpResponse, RequestHead } from '../http/http-message.ts';
import { readClientHeaders } from './headers.ts';
import { Report, writeReport } from './report.ts';
import { type RequestEnvironment, Scope } from './scope.ts';

/**
 * A request, from its headers to its response: what has arrived, its scope, and what is reported of it.
 * `end` releases what it holds, and reports it, once.
 */
export class GatewayRequest {
  readonly head: RequestHead;
  readonly body: RequestBody;
  readonly scope: Scope;
  readonly report = new Report();
  readonly #environment: RequestEnvironment;

  constructor(environment: RequestEnvironment, head: RequestHead) {
    this.head = head;
    this.scope = new Scope(environment, head);
    this.body = new RequestBody(this.scope, environment.bodyBytes);
    this.#environment = environment;
    this.report.client = readClientHeaders(head.headers);
  }

  /** Reports an error, once. Returns the one to respond with. */
  reportError(error: unknown): HttpError {
    return this.#environment.reportError(error, this.scope.requestId);
  }

  /** Ends the request. The status in its report must be set. */
  end(): void {
    if (this.scope.end()) {
      writeReport(this.report, this.scope, this.head, this.#environment.telemetry);
    }
  }

  /** Ends a request whose body does not arrive, or that has no response. It is not reported. */
  fail(): void {
    this.scope.cancel();
    // What still arrives is dropped.
    this.body.refuse(internalError());
    this.scope.end();
    this.body.onDiscarded?.();
  }
}

/** Serves requests: each is opened with its headers, and handled when its body has arrived. */
export interface RequestServer {
  open(head: RequestHead): GatewayRequest;
  /** Ends the request, or lets the body of a response in parts end it. Never rejects. */
  handle(request: GatewayRequest): Promise<HttpResponse>;
  /** The bodies in parts that have not ended. */
  readonly streams: ReadonlySet<BodyParts>;
}

/** Returns how a server opens its requests, without `handle`. */
export function openRequests(environment: RequestEnvironment): Omit<RequestServer, 'handle'> {
  return { open: (head) => new GatewayRequest(environment, head), streams: environment.streams };
}
