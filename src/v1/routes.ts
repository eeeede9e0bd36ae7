import { readBearer } from '../contract/bearer.ts';
import { decodeNewMessage, decodeNewPet, decodePetStatus, encodePet } from '../contract/codec.ts';
import { ErrorResponse, InvalidInputError } from '../contract/error.ts';
import { parseInt64 } from '../contract/int64.ts';
import { decodeUtf8, parseJson } from '../contract/json.ts';
import {
  type Call,
  type CallObserver,
  type ListPetsQuery,
  type Operation,
  type OperationId,
  operations,
  type PetStore,
} from '../contract/pet-store.ts';
import { pageSize } from '../contract/records.ts';
import { HttpError, methodNotAllowed } from '../http/error.ts';
import { errorBodyResponse } from '../http/error-response.ts';
import { requireSmallJson } from '../http/json-limits.ts';
import { isJsonType, unsupportedMediaType } from '../http/media-type.ts';
import type { HttpRequest, HttpResponse } from '../http/message.ts';
import { createStaticFile, type StaticFile } from '../http/static-file.ts';
import { toErrorBody } from './errors.ts';
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
 * Handles requests to `/v1/…` and `/quickstart/…`. Returns errors as Error bodies. Sets
 * `keyAccepted` if the pet store has accepted the key.
 * @throws HttpError if the HTTP request is refused.
 */
export type V1Handler = (
  request: HttpRequest,
  caller: Pick<Call, 'requestId'> & CallObserver & { keyAccepted: boolean },
  scope: DisposableStack,
) => Promise<HttpResponse>;

/** What the route handlers use. */
interface Resources extends V1Options {
  readonly openApi: StaticFile;
  readonly reference: Reference;
}

/** A request that matched a route. */
interface RoutedRequest {
  readonly request: HttpRequest;
  readonly call: Call;
  /** The part of the path that the route's capturing group matched; may be empty. */
  readonly parameter: string;
}

type Handle = (resources: Resources, routed: RoutedRequest) => Promise<HttpResponse>;

interface Route {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Handle>>;
  /** Requires no API key. */
  readonly isPublic?: true;
  /** Added to every response of the route. */
  readonly headers?: Readonly<Record<string, string>>;
}

const handlers: Readonly<Record<OperationId, Handle>> = {
  listPets,
  createPet,
  getPet,
  listOrders,
  sendMessage,
};

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

async function listPets(
  { petStore }: V1Options,
  { request, call }: RoutedRequest,
): Promise<HttpResponse> {
  const search = new URLSearchParams(request.search);
  const limit = single(search, 'limit');
  const status = single(search, 'status');
  const query: ListPetsQuery = {
    ...(limit === undefined ? {} : { limit: parseLimit(limit) }),
    ...(status === undefined ? {} : { status: decodePetStatus(status) }),
  };
  const pets = await petStore.listPets(call, query);
  return json(200, JSON.stringify(Array.from(pets, encodePet)));
}

async function createPet(
  { petStore }: V1Options,
  { request, call }: RoutedRequest,
): Promise<HttpResponse> {
  const pet = await petStore.createPet(call, decodeNewPet(readJson(request)));
  return json(201, JSON.stringify(encodePet(pet)));
}

async function getPet(
  { petStore }: V1Options,
  { call, parameter }: RoutedRequest,
): Promise<HttpResponse> {
  const petId = parseInt64(decodeSegment(parameter));
  if (petId === undefined) {
    throw new InvalidInputError(`petId: expected an int64, received ${JSON.stringify(parameter)}.`);
  }
  return json(200, JSON.stringify(encodePet(await petStore.getPet(call, petId))));
}

async function listOrders({ petStore }: V1Options, { call }: RoutedRequest): Promise<HttpResponse> {
  return json(200, (await petStore.listOrders(call)).text);
}

async function sendMessage(
  { petStore }: V1Options,
  { request, call }: RoutedRequest,
): Promise<HttpResponse> {
  const message = decodeNewMessage(readJson(request));
  return json(200, JSON.stringify(await petStore.sendMessage(call, message)));
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

function readJson({ headers, body }: HttpRequest): unknown {
  const contentType = headers['content-type'];
  if (!isJsonType(contentType)) {
    throw new InvalidInputError(unsupportedMediaType(contentType).message);
  }
  if (body instanceof HttpError) throw body;
  try {
    const text = decodeUtf8(body);
    requireSmallJson('body', text);
    return parseJson(text);
  } catch (error) {
    if (error instanceof HttpError) throw new InvalidInputError(error.message);
    throw new InvalidInputError('body: expected valid JSON in UTF-8.');
  }
}

/** Decodes a percent-encoded path segment; returns a malformed one unchanged. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function single(search: URLSearchParams, name: string): string | undefined {
  const values = search.getAll(name);
  if (values.length < 2) return values[0];
  throw new InvalidInputError(`${name}: expected one value, received ${values.length}.`);
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= pageSize.minimum && limit <= pageSize.maximum) return limit;
  throw new InvalidInputError(
    `limit: expected an integer from ${pageSize.minimum} to ${pageSize.maximum}, received ${JSON.stringify(text)}.`,
  );
}

function json(status: number, body: string): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body };
}

function withHeaders(response: HttpResponse, headers: Route['headers']): HttpResponse {
  Object.assign(response.headers, headers);
  return response;
}
