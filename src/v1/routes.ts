import { STATUS_CODES } from 'node:http';
import { readBearer } from '../contract/bearer.ts';
import { decodeNewMessage, decodeNewPet, decodePetStatus, encodePet } from '../contract/decode.ts';
import { ErrorResponse, InvalidInputError } from '../contract/error.ts';
import { parseInt64 } from '../contract/int64.ts';
import { parseJson, stringifyJson } from '../contract/json.ts';
import type { Call, ListPetsQuery, PetStore } from '../contract/pet-store.ts';
import { getPetRemoval, pageSize } from '../contract/records.ts';
import { isJsonType, notJsonType, readText } from '../http/body.ts';
import { toErrorBody } from './errors.ts';
import { openApiJson } from './openapi.ts';
import { referenceFile } from './reference.ts';

/** What the REST interface needs to be told of its surroundings. */
export interface V1Options {
  readonly petStore: PetStore;
  /** Told of every error that is no fault of the caller's, before it is answered in general words. */
  readonly reportError: (error: unknown, requestId: string) => void;
  /** The key that the reference page starts with. */
  readonly demoKey?: string | undefined;
}

/** Answers a request to `/v1/…` or `/quickstart/…`, errors as an Error body, and never throws. */
export type V1Handler = (
  request: Request,
  caller: Pick<Call, 'requestId' | 'observe'>,
) => Promise<Response>;

interface Exchange {
  readonly request: Request;
  readonly url: URL;
  readonly call: Call;
  /** The text of the path that the route's group matched. */
  readonly parameter: string;
}

interface Route {
  readonly path: RegExp;
  readonly methods: Readonly<
    Record<string, (options: V1Options, to: Exchange) => Promise<Response>>
  >;
  /** Answers without a key. */
  readonly isPublic?: true;
  /** Sent with every answer of the route. */
  readonly headers?: Readonly<Record<string, string>>;
}

const routes: readonly Route[] = [
  { path: /^\/v1\/pets$/, methods: { GET: listPets, POST: createPet } },
  {
    path: /^\/v1\/pets\/([^/]+)$/,
    methods: { GET: getPet },
    // RFC 8594 announces the end of the operation, RFC 5829 names the relation of its successor.
    headers: {
      sunset: getPetRemoval.toUTCString(),
      link: '</v1/pets>; rel="successor-version"',
    },
  },
  { path: /^\/v1\/store\/orders$/, methods: { GET: listOrders } },
  { path: /^\/quickstart\/messages$/, methods: { POST: sendMessage } },
  { path: /^\/v1\/openapi\.json$/, methods: { GET: describe }, isPublic: true },
  { path: /^\/v1\/docs(?:\/([\w.-]+))?$/, methods: { GET: showReference }, isPublic: true },
];

/** Stands for the caller of a public route, which asks the pet store for nothing. */
const nobody: Call = { apiKey: '', authorization: '', requestId: '' };

/** The REST interface of the contract over any `PetStore`. */
export function createV1(options: V1Options): V1Handler {
  return async (request, caller) => {
    const url = new URL(request.url);
    let headers: Route['headers'];
    try {
      const { route, parameter } = findRoute(url.pathname);
      headers = route.headers;
      const handle = route.methods[request.method === 'HEAD' ? 'GET' : request.method];
      if (handle === undefined) throw methodNotAllowed(route, request.method);
      if (route.isPublic) return await handle(options, { request, url, call: nobody, parameter });
      const { apiKey, authorization } = readBearer(request.headers.get('authorization'));
      const call: Call = { apiKey, authorization, signal: request.signal, ...caller };
      return withHeaders(await handle(options, { request, url, call, parameter }), headers);
    } catch (error) {
      const body = toErrorBody(error);
      if (body.status === 500 && !request.signal.aborted) {
        options.reportError(error, caller.requestId);
      }
      const response = json(body.status, JSON.stringify(body));
      if (body.status === 401) response.headers.set('www-authenticate', 'Bearer');
      if (error instanceof MethodNotAllowed) response.headers.set('allow', error.allow);
      return withHeaders(response, headers);
    }
  };
}

async function listPets({ petStore }: V1Options, { url, call }: Exchange): Promise<Response> {
  const limit = single(url, 'limit');
  const status = single(url, 'status');
  const query: ListPetsQuery = {
    ...(limit === undefined ? {} : { limit: parseLimit(limit) }),
    ...(status === undefined ? {} : { status: decodePetStatus(status) }),
  };
  const pets = await petStore.listPets(call, query);
  return json(200, JSON.stringify(pets.map(encodePet)));
}

async function createPet({ petStore }: V1Options, { request, call }: Exchange): Promise<Response> {
  const pet = await petStore.createPet(call, decodeNewPet(await readJson(request)));
  return json(201, JSON.stringify(encodePet(pet)));
}

async function getPet({ petStore }: V1Options, { call, parameter }: Exchange): Promise<Response> {
  const petId = parseInt64(decoded(parameter));
  if (petId === undefined) {
    throw new InvalidInputError(`petId: expected an int64, received ${JSON.stringify(parameter)}.`);
  }
  return json(200, JSON.stringify(encodePet(await petStore.getPet(call, petId))));
}

async function listOrders({ petStore }: V1Options, { call }: Exchange): Promise<Response> {
  return json(200, stringifyJson(await petStore.listOrders(call)));
}

async function sendMessage(
  { petStore }: V1Options,
  { request, call }: Exchange,
): Promise<Response> {
  const message = decodeNewMessage(await readJson(request));
  return json(200, JSON.stringify(await petStore.sendMessage(call, message)));
}

async function describe(): Promise<Response> {
  return json(200, await openApiJson());
}

async function showReference({ demoKey }: V1Options, { parameter }: Exchange): Promise<Response> {
  const file = await referenceFile(parameter, demoKey);
  if (file === undefined) throw notFound();
  return file;
}

class MethodNotAllowed extends ErrorResponse {
  readonly allow: string;

  constructor(allow: string, message: string) {
    super(405, message, { body: { code: 'method_not_allowed', message, status: 405 } });
    this.allow = allow;
  }
}

function methodNotAllowed(route: Route, method: string): MethodNotAllowed {
  const allow = Object.keys(route.methods).flatMap((name) =>
    name === 'GET' ? ['GET', 'HEAD'] : name,
  );
  return new MethodNotAllowed(
    allow.join(', '),
    `This address answers ${allow.join(', ')}, received ${method}.`,
  );
}

function findRoute(path: string): { route: Route; parameter: string } {
  for (const route of routes) {
    const match = route.path.exec(path);
    if (match !== null) return { route, parameter: match[1] ?? '' };
  }
  throw notFound();
}

function notFound(): ErrorResponse {
  const message = 'There is nothing at this address.';
  return ErrorResponse.of({ code: 'not_found', message, status: 404 });
}

async function readJson(request: Request): Promise<unknown> {
  const contentType = request.headers.get('content-type');
  if (!isJsonType(contentType)) throw new InvalidInputError(notJsonType(contentType));
  try {
    return parseJson(await readText(request));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
    throw new InvalidInputError('body: expected JSON in UTF-8, received something else.');
  }
}

/** A path segment without its percent-encoding; as it is where that is malformed. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function single(url: URL, name: string): string | undefined {
  const values = url.searchParams.getAll(name);
  if (values.length < 2) return values[0];
  throw new InvalidInputError(`${name}: expected it once, received it ${values.length} times.`);
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= pageSize.minimum && limit <= pageSize.maximum) return limit;
  throw new InvalidInputError(
    `limit: expected an integer from ${pageSize.minimum} to ${pageSize.maximum}, received ${JSON.stringify(text)}.`,
  );
}

function json(status: number, body: string): Response {
  return new Response(body, {
    status,
    statusText: STATUS_CODES[status] ?? '',
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    },
  });
}

function withHeaders(response: Response, headers: Route['headers']): Response {
  for (const [name, value] of Object.entries(headers ?? {})) response.headers.set(name, value);
  return response;
}
