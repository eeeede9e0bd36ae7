import { type Backend, callOf } from '../contract/backend.ts';
import { readBearer } from '../contract/bearer.ts';
import { InvalidInputError, isShown, PetStoreError, withOutcome } from '../contract/error.ts';
import { writeKeyOf } from '../contract/idempotency.ts';
import { type Contract, isSafe, type Operation, statusOf } from '../contract/operation.ts';
import { createRequestReader, createResponseWriter } from '../contract/request.ts';
import { readJsonBody } from '../http/body.ts';
import { errorBodyResponse, HttpError, methodNotAllowed } from '../http/error.ts';
import type { BodyParts, HttpResponse } from '../http/http-message.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { RateLimit } from '../request/rate-limit.ts';
import { createReference } from './reference.ts';

/** Options of `createV1`. */
export interface V1Options {
  readonly contract: Contract;
  readonly backend: Backend;
  readonly rateLimit: Pick<RateLimit, 'take'> | undefined;
  /** The API key that the reference page is prefilled with. */
  readonly demoKey?: string | undefined;
  /** Whether there is GraphiQL, to which the reference page links. */
  readonly graphiql?: boolean | undefined;
}

/** Handles the paths of the services. @throws HttpError if the HTTP request is refused. */
export interface V1Handler {
  (request: GatewayRequest): Promise<HttpResponse>;
  /** Matches these paths: `/v1/…` and others. */
  readonly paths: RegExp;
  /** The methods of its operations, and those of GraphQL. */
  readonly methods: readonly string[];
}

/** Only a cache of the client may store a response, and only for its key, to ask whether it has changed. */
const caching = { 'cache-control': 'private, no-cache', vary: 'Authorization' };

/** An operation as it is served; `respond` returns the body of a success. */
interface Served {
  readonly id: string;
  readonly status: number;
  readonly hasBody: boolean;
  /** Those of all of its responses. */
  readonly headers: Readonly<Record<string, string>>;
  respond(request: GatewayRequest, segments: readonly string[]): Promise<string>;
}

/** A path with its operations by method. */
interface Route {
  readonly template: string;
  readonly path: RegExp;
  readonly operations: ReadonlyMap<string, Served>;
}

/** Returns the routes in the order in which they are tried. */
function routesOf({ operations, services }: Contract, backend: Backend): readonly Route[] {
  const baseOf = ({ service }: Operation) => services[service]?.mountedAt ?? '';
  const all = Object.entries(operations);
  const pathOf = (operation: Operation) => baseOf(operation) + operation.path;
  const byPath = Map.groupBy(all, ([, one]) => pathOf(one).replaceAll(/\{\w+\}/g, '{}'));
  // A brace sorts after letters and digits, and so a parameter after each name in its place.
  return [...byPath]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, ofPath]) => ({
      template: ofPath.map(([, one]) => pathOf(one))[0] ?? path,
      path: new RegExp(`^${path.split('{}').map(RegExp.escape).join('([^/]+)')}$`),
      operations: new Map(
        ofPath.flatMap(([id, operation]) => {
          const served = serve(id, operation, backend, baseOf(operation));
          const methods = operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method];
          return methods.map((method) => [method, served]);
        }),
      ),
    }));
}

/** Returns the headers of a deprecated operation: Sunset (RFC 8594), successor (RFC 5829). */
function deprecationOf({ removal }: Operation, base: string): Readonly<Record<string, string>> {
  if (removal === undefined) return {};
  const link = `<${base}${removal.successor}>; rel="successor-version"`;
  return { sunset: new Date(removal.date).toUTCString(), link };
}

/** Serves an operation. A value that is invalid rejects with InvalidInputError before any call. */
function serve(id: string, operation: Operation, backend: Backend, base: string): Served {
  const { method } = operation;
  const status = statusOf(operation);
  const read = createRequestReader(operation);
  const write = createResponseWriter(operation);
  const call = callOf(backend, id);
  return {
    id,
    hasBody: operation.response !== 'nothing',
    status,
    headers: { ...caching, ...deprecationOf(operation, base) },
    async respond(request, segments) {
      const { head, scope } = request;
      const json = () => readRequestJson(request);
      const value = read({ segments, search: head.search ?? '', json });
      const key = isSafe(method) ? undefined : writeKeyOf(scope, head.path, id, value);
      return write(await call(scope, value, key));
    },
  };
}

function readRequestJson(request: GatewayRequest): unknown {
  try {
    return readJsonBody(request.head, request.body);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new InvalidInputError(error.message);
  }
}

/** Creates the REST interface of a contract for any backend. */
export function createV1({
  contract,
  backend,
  rateLimit,
  demoKey,
  graphiql,
}: V1Options): V1Handler {
  const reference = createReference(contract, demoKey, graphiql);
  const routes = routesOf(contract, backend);
  const bases = Object.values(contract.services).map(({ mountedAt }) => mountedAt);
  const handle = async (request: GatewayRequest): Promise<HttpResponse> => {
    const { path, method, headers } = request.head;
    const file = reference.get(path);
    if (file !== undefined) {
      if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD', method);
      return file(headers);
    }
    const route = routes.find((one) => one.path.test(path));
    if (route === undefined) {
      // Many generated clients ignore that the base of a service differs.
      const [, last = ''] = /^\/v1(\/.+)/.exec(path) ?? [];
      const moved = routes.find(({ template }) => template.replace(/^\/\w+/, '') === last);
      const name = last.slice(1, 2).toUpperCase() + last.slice(2);
      const hint = moved ? ` ${name} are at ${moved.template}.` : '';
      throw new HttpError(404, 'NOT_FOUND', `This path does not exist.${hint}`);
    }
    const operation = route.operations.get(method);
    if (!operation) throw methodNotAllowed([...route.operations.keys()].join(', '), method);
    request.report.v1Operation = operation.id;
    request.report.route = route.template;
    await rateLimit?.take(request.scope.key, 1);
    const { status } = operation;
    let response: HttpResponse;
    try {
      readBearer(headers['authorization']);
      const [, ...segments] = route.path.exec(path) ?? [];
      response = {
        status,
        headers: operation.hasBody ? { 'content-type': 'application/json' } : {},
        body: await operation.respond(request, segments),
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
    Object.assign(response.headers, operation.headers);
    return response;
  };
  const methods = new Set([
    'GET',
    'POST',
    ...Object.values(contract.operations).map(({ method }) => method),
  ]);
  return Object.assign(handle, {
    methods: [...methods],
    paths: new RegExp(`^(?:${bases.join('|')})/`),
  });
}

/** Returns the response for an error, with `Retry-After` (RFC 9110, section 10.2.3) if it has one. */
function errorResponse(error: unknown, method: string): HttpResponse {
  if (!isShown(error)) {
    const outcome = error instanceof PetStoreError ? error.writeOutcome : 'UNKNOWN';
    const isUnknown = !isSafe(method) && outcome === 'UNKNOWN';
    const message = isUnknown
      ? withOutcome('An internal error occurred.', outcome)
      : 'An internal error occurred. Try again later.';
    return errorBodyResponse({ code: 'internal_error', message, status: 500 });
  }
  const { errorBody, retryAfterMs } = error;
  const message = withOutcome(errorBody.message, !isSafe(method) && error.writeOutcome);
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
