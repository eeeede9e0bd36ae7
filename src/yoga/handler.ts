import { AsyncResource } from 'node:async_hooks';
import type { ExecutionResult } from 'graphql';
import type { GraphiqlPage } from '../http/graphiql.ts';
import type { HttpResponse } from '../http/http-message.ts';
import { nextTurn, turnBytes } from '../limits/turns.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import { readClientName } from '../request/headers.ts';
import { formatWhole, notAcceptable, type ResponseFormat, readFormat } from './delivery.ts';
import { type EncodedResult, encodeResult } from './encode-result.ts';
import type { Execute } from './execute.ts';
import { readParams } from './params.ts';
import { type DeliveredParts, encodeParts } from './parts.ts';

/** Middleware and proxies would hold back parts to compress them. */
const ofParts = 'no-store, no-transform';

/** Responds to the HTTP requests for GraphQL. */
export type GraphqlHandler = (request: GatewayRequest) => Promise<HttpResponse>;

/**
 * Creates the handler: exact parameters in, JSON text or parts out. A large body waits for a turn. It
 * rejects with HttpError if a request is refused before execution.
 */
export function createGraphqlHandler(execute: Execute, graphiql: GraphiqlPage): GraphqlHandler {
  return async (request) => {
    const { head, scope } = request;
    const { headers, method } = head;
    const page = method === 'POST' ? undefined : graphiql(head);
    if (page !== undefined) return page;
    const { accept } = headers;
    const format = readFormat(accept);
    if (format === undefined) throw notAcceptable(accept);
    if (request.body.size > turnBytes) await nextTurn(scope);
    const params = readParams(request);
    const { clientLibrary } = params.extensions ?? {};
    if (clientLibrary) request.report.clientLibrary = readClientName(clientLibrary);
    const mayStream = method !== 'HEAD' && head.mayStream !== false;
    const delivery = mayStream ? format.delivery : undefined;
    const executed = await execute(request, params, delivery);
    if ('parts' in executed) return toResponseInParts(request, executed);
    return toResponse(request, format, await encodeResult(executed, request), executed);
  };
}

/**
 * Returns the response for a result (GraphQL over HTTP, section 6.4). A result without `data` has
 * the status 400, or 200 for `application/json`, whose clients may predate that specification.
 */
function toResponse(
  request: GatewayRequest,
  format: ResponseFormat,
  { body: json, isExecuted }: EncodedResult,
  { data, errors = [] }: ExecutionResult,
): HttpResponse {
  const { body, contentType, isPart } = formatWhole(format, json);
  const headers: Record<string, string> = { 'content-type': contentType };
  const { method, headers: given } = request.head;
  if (method !== 'POST') {
    // A browser may store the response, to ask whether it has changed; a shared cache may not.
    headers['cache-control'] = 'private, no-cache';
    headers['vary'] = 'Authorization, Accept, X-Petstore-Explain';
  }
  if (given['x-petstore-explain']) headers['cache-control'] = 'no-store';
  if (isPart) headers['cache-control'] = ofParts;
  let status = isExecuted || format.jsonType !== 'application/graphql-response+json' ? 200 : 400;
  // Of plugins, as in Yoga, which sets `spec` for statuses that follow from the media type.
  for (const { extensions } of data ? [] : errors) {
    const { http } = extensions as { http?: Partial<HttpResponse> & { spec?: boolean } };
    for (const name in http?.headers) headers[name.toLowerCase()] = http.headers[name] ?? '';
    if (http?.status && !http.spec && !isPart) status = http.status;
  }
  return { status, headers, body };
}

/**
 * Returns the response for a result in parts. Cancelling the request ends it even if none has been read,
 * because clients may disconnect before the first one is written.
 */
function toResponseInParts(request: GatewayRequest, result: DeliveredParts): HttpResponse {
  const body = encodeParts(result, request);
  // The body has reported its own failure.
  const cancel = AsyncResource.bind(() => void body.return().catch(() => {}));
  if (request.scope.hasLeft) cancel();
  else request.scope.onLeave = cancel;
  const headers = { 'content-type': result.delivery.contentType, 'cache-control': ofParts };
  return { status: 200, headers, body: '', parts: body };
}
