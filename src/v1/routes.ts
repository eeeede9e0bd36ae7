import { readBearer } from '../contract/bearer.ts';
import { isShown, PetStoreError, withOutcome } from '../contract/error.ts';
import {
  type Operation,
  type OperationId,
  operations,
  type PetStore,
} from '../contract/pet-store.ts';
import { errorBodyResponse, HttpError, methodNotAllowed } from '../http/error.ts';
import type { BodyParts, HttpResponse } from '../http/http-message.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { RateLimit } from '../request/rate-limit.ts';
import { handlers } from './handlers.ts';
import { createReference } from './reference.ts';

/** Options of `createV1`. */
export interface V1Options {
  readonly petStore: PetStore;
  readonly rateLimit: Pick<RateLimit, 'take'> | undefined;
  /** The API key that the reference page is prefilled with. */
  readonly demoKey?: string | undefined;
  /** Whether there is GraphiQL, to which the reference page links. */
  readonly graphiql?: boolean | undefined;
}

/** Handles `/v1/…` and `/quickstart/…`. @throws HttpError if the HTTP request is refused. */
export type V1Handler = (request: GatewayRequest) => Promise<HttpResponse>;

const bases = { pets: '/v1', messages: '/quickstart' } as const;

/** The methods of requests for an operation. */
const methods = { GET: ['GET', 'HEAD'], POST: ['POST'] } as const;

const ids = Object.keys(operations) as OperationId[];
const pathOf = (id: OperationId) => bases[operations[id].service] + operations[id].path;

/** Only a cache of the client may store a response, and only for its key, to ask whether it has changed. */
const caching = { 'cache-control': 'private, no-cache', vary: 'Authorization' };

/**
 * The paths, those without a parameter first, with their operations by method, and the headers of all of
 * their responses. Derived when the module loads: they follow from constants alone.
 */
const routes = [...Map.groupBy(ids, pathOf)]
  .sort(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')))
  .map(([path, ofPath]) => ({
    template: path,
    path: new RegExp(`^${path.replace(/\{\w+\}/, '([^/]+)')}$`),
    operations: new Map<string, OperationId>(
      ofPath.flatMap((id) => methods[operations[id].method].map((method) => [method, id])),
    ),
    headers: Object.assign({}, caching, ...ofPath.map((id) => deprecationOf(operations[id]))),
  }));

/** Returns the headers of a deprecated operation: Sunset (RFC 8594), successor (RFC 5829). */
function deprecationOf({ removal, service }: Operation): Readonly<Record<string, string>> {
  if (removal === undefined) return {};
  const link = `<${bases[service]}${removal.successor}>; rel="successor-version"`;
  return { sunset: new Date(removal.date).toUTCString(), link };
}

/** Creates the contract's REST interface for any `PetStore`. */
export function createV1({ petStore, rateLimit, demoKey, graphiql }: V1Options): V1Handler {
  const reference = createReference(demoKey, graphiql);
  return async (request) => {
    const { path, method, headers } = request.head;
    const file = reference.get(path);
    if (file !== undefined) {
      if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD', method);
      return file(headers);
    }
    const route = routes.find((one) => one.path.test(path));
    if (route === undefined) {
      // Many generated clients ignore that the base of messages differs.
      const hint = path === '/v1/messages' ? ` Messages are at ${pathOf('sendMessage')}.` : '';
      throw new HttpError(404, 'NOT_FOUND', `This path does not exist.${hint}`);
    }
    const operation = route.operations.get(method);
    if (!operation) throw methodNotAllowed([...route.operations.keys()].join(', '), method);
    request.report.v1Operation = operation;
    request.report.route = route.template;
    await rateLimit?.take(request.scope.key, 1);
    const { status = 200 } = operations[operation];
    let response: HttpResponse;
    try {
      readBearer(headers['authorization']);
      const [, parameter = ''] = route.path.exec(path) ?? [];
      response = {
        status,
        headers: { 'content-type': 'application/json' },
        body: await handlers[operation](petStore, request, parameter),
      };
    } catch (error) {
      if (!isShown(error)) request.reportError(error);
      const staged = stagedResponse(error, status);
      if (staged?.parts) {
        request.report.status = staged.status;
        request.end();
      }
      response = staged ?? errorResponse(error, method);
    }
    Object.assign(response.headers, route.headers);
    return response;
  };
}

/** Returns the response for an error, with `Retry-After` (RFC 9110, section 10.2.3) if it has one. */
function errorResponse(error: unknown, method: string): HttpResponse {
  if (!isShown(error)) {
    const outcome = error instanceof PetStoreError ? error.writeOutcome : 'UNKNOWN';
    const isUnknown = method === 'POST' && outcome === 'UNKNOWN';
    const message = isUnknown
      ? withOutcome('An internal error occurred.', outcome)
      : 'An internal error occurred. Try again later.';
    return errorBodyResponse({ code: 'internal_error', message, status: 500 });
  }
  const { errorBody, retryAfterMs } = error;
  const message = withOutcome(errorBody.message, method === 'POST' && error.writeOutcome);
  const body = { ...errorBody, message };
  if (retryAfterMs === undefined) return errorBodyResponse(body);
  return errorBodyResponse(body, { 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` });
}

/** Returns how the service itself fails with a demo key: with other text than JSON, or by closing the connection. */
function stagedResponse(error: unknown, status: number): HttpResponse | undefined {
  if (!(error instanceof PetStoreError && error.isStaged)) return undefined;
  const headers = { 'content-type': 'application/json' };
  if (error.code === 'UPSTREAM_INVALID_RESPONSE') return { status, headers, body: '{"id":' };
  const parts: BodyParts = {
    [Symbol.asyncIterator]: () => parts,
    // Nothing was written before.
    next: () => Promise.reject(error),
    return: async () => ({ value: undefined, done: true }),
    end() {},
  };
  return { status: 503, headers, body: '', parts };
}
