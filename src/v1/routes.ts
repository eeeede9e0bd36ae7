import { readBearer } from '../contract/bearer.ts';
import { ErrorResponse } from '../contract/error.ts';
import {
  type Call,
  type CallObserver,
  type Operation,
  type OperationId,
  operations,
  type PetStore,
} from '../contract/pet-store.ts';
import { HttpError, methodNotAllowed } from '../http/error.ts';
import { errorBodyResponse } from '../http/error-response.ts';
import type { HttpRequest, HttpResponse } from '../http/message.ts';
import { createStaticFile, type StaticFile } from '../http/static-file.ts';
import { toErrorBody } from './errors.ts';
import { handlers, type RoutedRequest } from './handlers.ts';
import { openApiJson } from './openapi.ts';
import { createReference, type Reference } from './reference.ts';

/** Options of `createV1`. */
export interface V1Options {
  readonly petStore: PetStore;
  /** Called with each unexpected error; the response has no details of it. */
  readonly reportError: (error: unknown, requestId: string) => void;
  /** The API key that the reference page is prefilled with. */
  readonly demoKey?: string | undefined;
}

/**
 * Handles requests to `/v1/…` and `/quickstart/…`. Returns errors as Error bodies. Sets the operation
 * of the contract and its route, and `keyAccepted` if the pet store has accepted the key.
 * @throws HttpError if the HTTP request is refused.
 */
export type V1Handler = (
  request: HttpRequest,
  caller: Pick<Call, 'requestId'> &
    CallObserver & {
      keyAccepted: boolean;
      v1Operation: string | undefined;
      route: string | undefined;
    },
  scope: DisposableStack,
) => Promise<HttpResponse>;

/** What the route handlers use. */
interface Resources extends V1Options {
  readonly openApi: StaticFile;
  readonly reference: Reference;
}

type Handle = (resources: Resources, routed: RoutedRequest) => Promise<HttpResponse>;

interface Route {
  readonly path: RegExp;
  readonly template?: string;
  readonly methods: Readonly<Record<string, Handle>>;
  /** Requires no API key. */
  readonly isPublic?: true;
  /** Added to every response of the route. */
  readonly headers?: Readonly<Record<string, string>>;
}

const bases: Readonly<Record<Operation['service'], string>> = {
  pets: '/v1',
  messages: '/quickstart',
};

/** Returns the routes of the contract, those without a parameter first. */
function contractRoutes(): Route[] {
  const ids = Object.keys(operations) as OperationId[];
  const pathOf = (id: OperationId) => bases[operations[id].service] + operations[id].path;
  const byPath = [...Map.groupBy(ids, pathOf)];
  byPath.sort(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')));
  return byPath.map(([path, ids]) => ({
    template: path,
    path: new RegExp(`^${path.replace(/\{\w+\}/, '([^/]+)')}$`),
    methods: Object.fromEntries(ids.map((id) => [operations[id].method, handlers[id]])),
    headers: Object.assign({}, ...ids.map((id) => deprecationOf(operations[id]))),
  }));
}

/** Returns the headers of a deprecated operation: Sunset (RFC 8594), successor (RFC 5829). */
function deprecationOf({ removal, service }: Operation): Readonly<Record<string, string>> {
  if (removal === undefined) return {};
  const link = `<${bases[service]}${removal.successor}>; rel="successor-version"`;
  return { sunset: removal.date.toUTCString(), link };
}

const routes: readonly Route[] = [
  ...contractRoutes(),
  { path: /^\/v1\/openapi\.json$/, methods: { GET: sendOpenApi }, isPublic: true },
  { path: /^\/v1\/docs(?:\/([\w.-]+))?$/, methods: { GET: sendReference }, isPublic: true },
];

const operationOf = new Map<Handle, string>(
  Object.entries(handlers).map(([id, handle]) => [handle, id]),
);

/** The call of a public route, which never uses the pet store. */
const anonymousCall: Call = { apiKey: '', authorization: '', key: 0, requestId: '' };

/** Creates the contract's REST interface for any `PetStore`. */
export function createV1(options: V1Options): V1Handler {
  const resources = {
    ...options,
    openApi: createStaticFile('application/json', { 'cache-control': 'no-cache' }, openApiJson),
    reference: createReference(options.demoKey),
  };
  return async (request, caller, scope) => {
    let headers: Route['headers'];
    try {
      const { route, parameter } = findRoute(request.path);
      headers = route.headers;
      const handle = route.methods[request.method === 'HEAD' ? 'GET' : request.method];
      if (handle === undefined) throw methodNotAllowed(allowedBy(route), request.method);
      if (route.isPublic)
        return await handle(resources, { request, call: anonymousCall, parameter });
      caller.v1Operation = operationOf.get(handle);
      caller.route = route.template;
      const { apiKey, authorization } = readBearer(request.headers['authorization']);
      const { key, signal } = request;
      const { requestId } = caller;
      const call: Call = { apiKey, authorization, key, signal, requestId, observer: caller, scope };
      const response = await handle(resources, { request, call, parameter });
      caller.keyAccepted = true;
      return withHeaders(response, headers);
    } catch (error) {
      if (error instanceof HttpError) throw error;
      if (error instanceof ErrorResponse && error.status === 404) caller.keyAccepted = true;
      const body = toErrorBody(error);
      if (body.status === 500) options.reportError(error, caller.requestId);
      return withHeaders(errorBodyResponse(body), headers);
    }
  };
}

function sendOpenApi({ openApi }: Resources, { request }: RoutedRequest): Promise<HttpResponse> {
  return openApi(request.headers);
}

async function sendReference(
  { reference }: Resources,
  { request, parameter }: RoutedRequest,
): Promise<HttpResponse> {
  const file = reference.get(parameter);
  if (file === undefined) throw notFound();
  return file(request.headers);
}

function allowedBy({ methods }: Route): string {
  return Object.keys(methods)
    .flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name))
    .join(', ');
}

function findRoute(path: string): { route: Route; parameter: string } {
  for (const route of routes) {
    const match = route.path.exec(path);
    if (match !== null) return { route, parameter: match[1] ?? '' };
  }
  throw notFound();
}

function notFound(): HttpError {
  return new HttpError(404, 'NOT_FOUND', 'This path does not exist.');
}

function withHeaders(response: HttpResponse, headers: Route['headers']): HttpResponse {
  Object.assign(response.headers, headers);
  return response;
}
