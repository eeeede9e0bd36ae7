import { type BodyBudget, RequestBody } from '../http/body.ts';
import { type HttpError, internalError } from '../http/error.ts';
import type { RequestHead } from '../http/http-message.ts';
import { Refusal } from '../http/refusal.ts';
import type { RequestServer, ServedRequest } from '../http/request-server.ts';
import { readClientHeaders } from './client-name.ts';
import { Report, writeReport } from './report.ts';
import type { RequestEnvironment } from './request-environment.ts';
import { Scope } from './scope.ts';

/**
 * A request, from its headers to its response: what has arrived, its scope, and what is reported of it.
 * `end` releases what it holds, and reports it, once.
 */
export class GatewayRequest implements ServedRequest, BodyBudget {
  readonly head: RequestHead;
  readonly body: RequestBody;
  readonly scope: Scope;
  readonly report = new Report();
  readonly #environment: RequestEnvironment;

  constructor(environment: RequestEnvironment, head: RequestHead) {
    const { headers } = head;
    this.head = head;
    this.scope = new Scope(environment, head);
    this.body = new RequestBody(this);
    this.#environment = environment;
    const client = headers['graphql-client-name'] ?? headers['apollographql-client-name'];
    if (client !== undefined) this.report.client = readClientHeaders(client, headers);
  }

  get isAnonymous(): boolean {
    return this.scope.key.credential === '';
  }

  takeBodyBytes(bytes: number): HttpError | undefined {
    const { bodyBytes } = this.#environment;
    const refusedBy = bodyBytes.take(this.scope.key, bytes);
    if (refusedBy) return new Refusal(refusedBy === 'key' ? 'body_bytes_of_key' : 'body_bytes');
    this.scope.hold(bodyBytes, bytes);
    return undefined;
  }

  reportError(error: unknown): HttpError {
    return this.#environment.reportError(error, this.scope.requestId);
  }

  /** Ends the request. The status in its report must be set. */
  end(): void {
    if (this.scope.end()) {
      writeReport(this.report, this.scope, this.head, this.#environment.telemetry);
    }
  }

  fail(): void {
    this.scope.cancel();
    // What still arrives is dropped.
    this.body.refuse(internalError());
    this.scope.end();
    this.body.onDiscarded?.();
  }
}

/** Returns how a server opens its requests, without `handle`. */
export function openRequests(
  environment: RequestEnvironment,
): Omit<RequestServer<GatewayRequest>, 'handle'> {
  return { open: (head) => new GatewayRequest(environment, head), streams: environment.streams };
}
