import { compressResponse } from '../http/compression.ts';
import { createCors } from '../http/cors.ts';
import { HttpError, methodNotAllowed } from '../http/error.ts';
import { restErrorResponse } from '../http/error-response.ts';
import { type Health, probePaths } from '../http/health.ts';
import { checkHost } from '../http/host.ts';
import type { HttpRequest, HttpResponse } from '../http/http-message.ts';
import type { Refuse } from '../http/refuse.ts';
import { nextTurn, turnBytes } from '../limits/turns.ts';
import type { V1Handler } from '../v1/routes.ts';
import type { GraphqlHandler } from '../yoga/handler.ts';
import { refusalResponse } from '../yoga/refusal.ts';
import type { Admission } from './admission.ts';
import { setIdempotencyKey } from './idempotency-key.ts';
import type { RequestEnvironment } from './request-environment.ts';
import type { RequestRecord, RequestServer } from './request-record.ts';

/** The handlers of each path, and what applies to all paths. */
export interface RouterOptions extends Pick<RequestEnvironment, 'streams' | 'telemetry'> {
  readonly admission: Admission;
  readonly refuse: Refuse;
  readonly graphql: GraphqlHandler;
  /** `/livez` and `/readyz`; undefined if the gateway is mounted in another server. */
  readonly health: Health | undefined;
  /** The REST interface at `/v1` and `/quickstart`. */
  readonly v1: V1Handler | undefined;
  /** Origins that may call the gateway from a browser. */
  readonly corsOrigins: readonly string[];
  /** The names of the headers that are passed on to the REST service, on which its responses depend. */
  readonly forwardHeaders: readonly string[] | undefined;
  /** Compress large responses that are marked as compressible. */
  readonly compression: boolean;
  /** Accept only requests with a loopback Host that no proxy forwards. */
  readonly onlyLoopbackHosts: boolean;
  /** Serve GraphQL at every path, because another server has routed the request. */
  readonly mounted: boolean;
}

const isGraphqlPath = (path: string) => path === '/graphql' || path === '/graphql/';

/**
 * Creates the handler of all paths. The record of a request ends before its response is written; that of
 * a response in parts is ended by its body.
 */
export function createRouter(options: RouterOptions): RequestServer['handle'] {
  const { admission, compression, health, graphql, v1, mounted, streams } = options;
  const cors = createCors(options.corsOrigins, options.telemetry.log);
  const forwarded = options.forwardHeaders?.map((name) => `, ${name}`).join('');

  /** Returns a promise only for work that has to wait. @throws HttpError if the request is refused */
  function route(record: RequestRecord): HttpResponse | Promise<HttpResponse> {
    const { method, headers } = record;
    checkHost(headers, options.onlyLoopbackHosts, mounted);
    const preflight = method === 'OPTIONS' ? cors.preflight(record) : undefined;
    if (preflight instanceof HttpError) throw preflight;
    if (preflight !== undefined) return preflight;
    admission.admit(record);
    const coding = headers['content-encoding'];
    if (coding === undefined) return serve(record);
    return nextTurn(record).then(() => serve(record, coding));
  }

  function serve(record: RequestRecord, coding?: string): HttpResponse | Promise<HttpResponse> {
    const { path } = record;
    if (coding !== undefined) record.decodeBody(coding);
    if (record.refusal) throw record.refusal;
    setIdempotencyKey(record, 'idempotency-key', record.headers['idempotency-key']);
    const isGraphql = isGraphqlPath(path);
    if (isGraphql) record.route = '/graphql';
    if (mounted || isGraphql) return graphql(record);
    if (v1 && /^\/(?:v1|quickstart)\//.test(path)) {
      if (record.size <= turnBytes) return v1(record);
      return nextTurn(record).then(() => v1(record));
    }
    return redirectRoot(record);
  }

  function refuse(error: unknown, record: RequestRecord): HttpResponse {
    const refusal = options.refuse(error, record.requestId);
    if (!mounted && !isGraphqlPath(record.path)) return restErrorResponse(refusal);
    record.codes = [refusal.code];
    return refusalResponse(refusal, record, record.requestId);
  }

  return async (record) => {
    if (health && probePaths.has(record.path)) {
      return health(record).finally(() => record.endUnreported());
    }
    let response: HttpResponse;
    try {
      const routed = route(record);
      response = routed instanceof Promise ? await routed : routed;
    } catch (error) {
      response = refuse(error, record);
    }
    record.status = response.status;
    if (compression) {
      response = await compressResponse(response, record.headers['accept-encoding']);
    }
    if (forwarded && response.headers['vary']) response.headers['vary'] += forwarded;
    if (options.corsOrigins.length > 0) cors.addHeaders(record, response);
    admission.addRate?.(record.key, response.headers);
    response.headers['x-request-id'] = record.requestId;
    if (record.isReplayed) response.headers['idempotent-replayed'] = 'true';
    const { parts } = response;
    if (parts === undefined) record.end();
    else {
      streams.add(parts);
      record.hold({ release: () => streams.delete(parts) }, 1);
    }
    return response;
  };
}

/** Redirects `/` to GraphQL. @throws HttpError for any other path */
function redirectRoot({ method, path }: HttpRequest): HttpResponse {
  if (path !== '/') {
    throw new HttpError(404, 'NOT_FOUND', 'This path does not exist. GraphQL is at /graphql.');
  }
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD', method);
  return { status: 302, headers: { location: './graphql' }, body: '' };
}
