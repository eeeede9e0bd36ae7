import { isSafe } from '../contract/operation.ts';
import { compressResponse } from '../http/compression.ts';
import { createCors } from '../http/cors.ts';
import { badRequest, HttpError, methodNotAllowed, restErrorResponse } from '../http/error.ts';
import { etagOf, matchesEtag, notModified } from '../http/etag.ts';
import { type Health, probePaths } from '../http/health.ts';
import type { HttpResponse, RequestHead, RequestHeaders } from '../http/http-message.ts';
import { nextTurn, turnBytes } from '../limits/turns.ts';
import type { V1Handler } from '../v1/routes.ts';
import { graphqlErrorResponse } from '../yoga/delivery.ts';
import type { GraphqlHandler } from '../yoga/handler.ts';
import type { Admission } from './admission.ts';
import type { GatewayRequest, RequestServer } from './gateway-request.ts';
import { applyHeaders, type HeaderOptions } from './headers.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RequestEnvironment } from './scope.ts';

/** The handlers of each path, and what applies to all paths. */
export interface RouterOptions
  extends HeaderOptions,
    Pick<RequestEnvironment, 'streams' | 'telemetry'> {
  readonly admission: Admission;
  /** The rate of the calls of each key; undefined for any number. */
  readonly rateLimit: RateLimit | undefined;
  readonly graphql: GraphqlHandler;
  /** `/livez` and `/readyz`; undefined if the gateway is mounted in another server. */
  readonly health: Health | undefined;
  /** The REST interface of the contract. */
  readonly v1: V1Handler | undefined;
  /** Origins that may call the gateway from a browser. */
  readonly corsOrigins: readonly string[];
  /** Compress texts of 4 KiB and more. */
  readonly compression: boolean;
  /** Accept only requests with a loopback Host that no proxy forwards. */
  readonly onlyLoopbackHosts: boolean;
  /** Serve GraphQL at every path, because another server has routed the request. */
  readonly mounted: boolean;
}

const graphqlPaths: ReadonlySet<string> = new Set(['/graphql', '/graphql/']);

/**
 * Creates the handler of all paths. A request ends before its response is written; that of a response in
 * parts is ended by its body.
 */
export function createRouter(options: RouterOptions): RequestServer['handle'] {
  const { admission, compression, health, graphql, v1, mounted, streams } = options;
  const cors = createCors(options.corsOrigins, options.telemetry.log, v1?.methods);
  const forwarded = options.forwardHeaders?.map((name) => `, ${name}`).join('');

  /** Returns a promise only for work that has to wait. @throws HttpError if the request is refused */
  function route(request: GatewayRequest): HttpResponse | Promise<HttpResponse> {
    const { head, scope, report } = request;
    checkHost(head.headers, options.onlyLoopbackHosts, mounted);
    const preflight = head.method === 'OPTIONS' ? cors.preflight(head, report) : undefined;
    if (preflight !== undefined) return preflight;
    admission.admit(scope);
    const coding = head.headers['content-encoding'];
    if (coding === undefined) return serve(request);
    return nextTurn(scope).then(() => serve(request, coding));
  }

  function serve(request: GatewayRequest, coding?: string): HttpResponse | Promise<HttpResponse> {
    const { head, body, scope } = request;
    if (coding !== undefined) body.decode(coding);
    if (body.error) throw body.error;
    applyHeaders(scope, head, options);
    const isGraphql = graphqlPaths.has(head.path);
    if (isGraphql) request.report.route = '/graphql';
    if (mounted || isGraphql) return graphql(request);
    if (v1?.paths.test(head.path)) {
      if (body.size <= turnBytes) return v1(request);
      return nextTurn(scope).then(() => v1(request));
    }
    return redirect(head, v1 !== undefined);
  }

  function respondWith(error: HttpError, request: GatewayRequest): HttpResponse {
    if (!mounted && !graphqlPaths.has(request.head.path)) return restErrorResponse(error);
    request.report.codes = [error.code];
    return graphqlErrorResponse(error, request);
  }

  return async (request) => {
    const { head, report, scope } = request;
    if (health && probePaths.has(head.path)) return health(head).finally(() => scope.end());
    let response: HttpResponse;
    try {
      response = await route(request);
    } catch (error) {
      response = respondWith(request.reportError(error), request);
    }
    const isUnchanged = isSafe(head.method) && addEtag(request, response);
    if (compression) {
      const accepted = isUnchanged ? undefined : head.headers['accept-encoding'];
      response = await compressResponse(response, accepted);
    }
    if (isUnchanged) response = notModified(response);
    report.status = response.status;
    if (forwarded && response.headers['vary']) response.headers['vary'] += forwarded;
    if (options.corsOrigins.length > 0) cors.addHeaders(head, response);
    options.rateLimit?.addHeaders(scope.key, response.headers);
    response.headers['x-request-id'] = scope.requestId;
    if (scope.isReplayed) response.headers['idempotent-replayed'] = 'true';
    const { parts } = response;
    if (parts === undefined) request.end();
    else {
      streams.add(parts);
      scope.hold({ release: () => streams.delete(parts) }, 1);
    }
    return response;
  };
}

/**
 * Adds an ETag to a result without errors that a browser may store; a weak one, because it may be
 * compressed. Returns whether the client has the result. Files have an ETag already.
 */
function addEtag(
  { head: { headers }, report: { codes } }: GatewayRequest,
  { status, headers: sent, body }: HttpResponse,
) {
  const isResult = status === 200 && sent['cache-control'] === 'private, no-cache';
  if (!isResult || codes.length > 0 || sent['etag'] !== undefined) return false;
  sent['etag'] = `W/${etagOf(body)}`;
  return matchesEtag(headers['if-none-match'], sent['etag']);
}

/** Redirects `/` to GraphQL, and `/v1` to its reference. @throws HttpError for any other path */
function redirect({ method, path }: RequestHead, hasV1: boolean): HttpResponse {
  const isRoot = path === '/';
  if (!isRoot && !(hasV1 && path === '/v1')) {
    throw new HttpError(404, 'NOT_FOUND', 'This path does not exist. GraphQL is at /graphql.');
  }
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD', method);
  // Relative, for a proxy that removes a prefix.
  return { status: 302, headers: { location: isRoot ? './graphql' : './v1/docs' }, body: '' };
}

/**
 * Checks that a Host header is a host with an optional port, or empty as for a Unix domain socket
 * (RFC 9110, section 7.2), and, with `onlyLoopback`, a loopback host, against DNS rebinding.
 * Proxies may serve other machines; a server that it is mounted in (Next.js) names its client.
 * @throws HttpError with status 400
 */
function checkHost(headers: RequestHeaders, onlyLoopback: boolean, mounted: boolean): void {
  const { host, forwarded = headers['x-forwarded-for'] } = headers;
  if (onlyLoopback && forwarded !== undefined && !(mounted && loopback.test(forwarded))) {
    throw badRequest(
      'X-Forwarded-For, Forwarded: expected neither because this is a demo: remove them in the proxy (xfwd), or set DEMO=off.',
    );
  }
  if (!host) return;
  if (!wellFormed.test(host) || !URL.canParse(`http://${host}`)) {
    throw badRequest(
      'Host: expected one host name or address with an optional port, received another value.',
    );
  }
  if (onlyLoopback && !loopback.test(host)) {
    throw badRequest(
      'Host: expected localhost or a loopback address because this is a demo, received another host.',
    );
  }
}

const wellFormed = /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d*)?$/i;

const loopback =
  /^(?:(?:[\w-]+\.)*localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|\[::1\]|::1)(?::\d*)?$/i;
