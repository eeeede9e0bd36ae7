import { HttpError, methodNotAllowed } from '../http/error.ts';
import { graphqlErrorResponse, restErrorResponse } from '../http/error-response.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../http/message.ts';
import type { Refuse } from '../http/refuse.ts';
import { nextSlice, sliceBytes } from '../limits/slices.ts';
import { RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { V1Handler } from '../v1/routes.ts';
import type { Admission } from './admission.ts';
import type { GraphqlHandler } from './graphql/handler.ts';
import { type Health, probePaths } from './health.ts';
import { createCors } from './http/cors.ts';
import { checkHost } from './http/host.ts';

/** The handlers of each path, and what applies to all paths. */
export interface RouterOptions {
  readonly telemetry: Telemetry;
  readonly admission: Admission;
  readonly refuse: Refuse;
  readonly graphql: GraphqlHandler;
  /** `/livez` and `/readyz`; undefined if the gateway is mounted in another server. */
  readonly health: Health | undefined;
  /** The REST interface at `/v1` and `/quickstart`. */
  readonly v1: V1Handler | undefined;
  /** Origins that may call the gateway from a browser. */
  readonly corsOrigins: readonly string[];
  /** Accept only requests with a loopback Host. */
  readonly onlyLoopbackHosts: boolean;
  /** Serve GraphQL at every path, because another server has routed the request. */
  readonly mounted: boolean;
}

/**
 * Creates the handler of all paths. What a request holds is in one scope, which ends when the response
 * is complete: its part of the limits, and the record that every request except a probe gets. The
 * scope of a response in parts is disposed by its body.
 */
export function createRouter(options: RouterOptions): HttpHandler {
  const { telemetry, admission, health, graphql, v1, mounted } = options;
  const cors = createCors(options.corsOrigins);

  async function respond(
    request: HttpRequest,
    record: RequestRecord,
    scope: DisposableStack,
  ): Promise<HttpResponse> {
    checkHost(request.headers['host'], options.onlyLoopbackHosts);
    const { body, key, method, path } = request;
    const preflight = method === 'OPTIONS' ? cors.preflight(request, record) : undefined;
    if (preflight !== undefined) return preflight;
    const admitted = admission.admit(request, record, scope);
    if (admitted !== undefined) await admitted;
    if (!(body instanceof HttpError) && body.byteLength > sliceBytes) await nextSlice(key);
    if (path === '/graphql') record.route = path;
    if (mounted || path === '/graphql') return graphql.respond(request, record, scope);
    if (v1 && /^\/(?:v1|quickstart)\//.test(path)) return v1(request, record, scope);
    if (path !== '/') {
      throw new HttpError(404, 'NOT_FOUND', 'This path does not exist. GraphQL is at /graphql.');
    }
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD', method);
    return { status: 302, headers: { location: './graphql' }, body: '' };
  }

  function refuse(error: unknown, request: HttpRequest, record: RequestRecord): HttpResponse {
    const refusal = options.refuse(error, record.requestId);
    if (!mounted && request.path !== '/graphql') return restErrorResponse(refusal);
    record.codes = [refusal.code];
    return graphqlErrorResponse(refusal, request, record.requestId);
  }

  return async (request) => {
    const scope = new DisposableStack();
    let response: HttpResponse | undefined;
    try {
      scope.use(request.heldBody);
      if (health && probePaths.has(request.path)) return await health(request);
      const record = scope.use(new RequestRecord(telemetry, request));
      try {
        response = await respond(request, record, scope);
      } catch (error) {
        response = refuse(error, request, record);
      }
      record.status = response.status;
      if (options.corsOrigins.length > 0) cors.addHeaders(request, response);
      response.headers['x-request-id'] = record.requestId;
      return response;
    } finally {
      if (response?.parts === undefined) scope.dispose();
    }
  };
}
