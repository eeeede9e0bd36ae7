import { gzipSync } from 'node:zlib';
import { checksOf } from '../../src/conformance/run.ts';
import { parseJson, stringifyJson } from '../../src/contract/json.ts';
import { contract } from '../../src/petstore/operations.ts';

/** A service that differs from the contract in one way, and the checks that must fail for it. */
export interface BrokenService {
  /** Responds to a request; `forward` forwards it, changed or not, to a service that follows the contract. */
  readonly respond: (request: ReceivedRequest, forward: Forward) => Response | Promise<Response>;
  /** The ids of the failing checks, with what they report. */
  readonly failures: Readonly<Record<string, string>>;
}

/** A request, as the contract names its parts. */
interface ReceivedRequest {
  /** Method and path below the base URL, such as `GET /pets`. */
  readonly operation: string;
  readonly query: URLSearchParams;
  readonly authorization: string | null;
  readonly idempotencyKey: string | null;
  readonly body: string;
}

/** Returns the correct response to the request, after changing some of its parts. */
type Forward = (changed?: Partial<Omit<ReceivedRequest, 'operation'>>) => Promise<Response>;

const key = 'Bearer demo-key';
const jsonType = 'application/json';
const { writing } = checksOf(contract);
const ids = ['list', 'get', 'orders', 'create'];
const noKeys = ids.map((id) => `${id}-no-key`);
const wrongKeys = ids.map((id) => `${id}-wrong-key`);
const missing = ['get-missing', 'get-int64'];
const filters = ['filter-available', 'filter-pending', 'filter-sold'];
const lists = ['list', 'limit-1', 'limit-100', ...filters];
const refusals = writing
  .filter(({ rule }) => rule.endsWith(': 400 with an Error body'))
  .map(({ id }) => id);
const error = { code: 'no', message: 'No.', status: 401 };
const rex = { id: 1, name: 'Rex', categoryId: 1 };
const noErrorBody = 'expected an Error body with code, message and status';
const notJson = 'content-type: expected application/json, received';

const is = (request: ReceivedRequest, ...operations: string[]) =>
  operations.includes(request.operation);
const isGet = ({ operation }: ReceivedRequest) => /^GET \/pets\/\d+$/.test(operation);
const all = (ids: readonly string[], seen: string) =>
  Object.fromEntries(ids.map((id) => [id, seen]));

type Change<Value> = (value: Value) => unknown;

/** Responds correctly, but changes lists of pets. */
const listing =
  (change: Change<Record<string, unknown>[]>) =>
  async (request: ReceivedRequest, forward: Forward): Promise<Response> => {
    const response = await forward();
    if (!is(request, 'GET /pets') || response.status !== 200) return response;
    return json(200, change(parseJson(await response.text()) as Record<string, unknown>[]));
  };

/** Responds correctly, but changes the responses with this status to these operations, or to all. */
const changing =
  (status: number, change: (response: Response) => unknown, ...operations: string[]) =>
  async (request: ReceivedRequest, forward: Forward): Promise<Response> => {
    const response = await forward();
    if (response.status !== status) return response;
    if (operations.length > 0 && !is(request, ...operations)) return response;
    return (await change(response)) as Response;
  };

/** Responds to these requests in its own way. */
const responding =
  (matches: (request: ReceivedRequest) => boolean, respond: () => Response) =>
  (request: ReceivedRequest, forward: Forward) =>
    matches(request) ? respond() : forward();

const isLimitOf = (limit: number) => (request: ReceivedRequest) =>
  request.query.get('limit') === String(limit);
const many = (count: number) => Array.from({ length: count }, (_, id) => ({ ...rex, id }));
const available = many(101).map((pet) => ({ ...pet, status: 'available' }));

/** Services that violate the contract in one way each, by what each does. */
export const brokenServices: Readonly<Record<string, BrokenService>> = {
  'requires no key': {
    respond: (request, forward) => forward({ authorization: request.authorization ?? key }),
    failures: {
      ...all([...noKeys, 'message-no-key'], 'expected 401, received 200, JSON'),
      'list-no-key': 'expected 401, received 200, an array of 12',
      'orders-no-key': 'expected 401, received 200, an array of 2',
      'create-no-key': 'expected 401, received 201, JSON',
    },
  },
  'accepts any key for orders': {
    respond: (request, forward) =>
      is(request, 'GET /store/orders') && request.authorization !== null
        ? forward({ authorization: key })
        : forward(),
    failures: { 'orders-wrong-key': 'expected 401, received 200, an array of 2' },
  },
  'sends more orders than the gateway reads': {
    respond: changing(200, () => json(200, [' '.repeat(4 * 1024 * 1024)]), 'GET /store/orders'),
    failures: { orders: 'no complete response: the body is larger than 4 MiB' },
  },
  'responds with 403 to a wrong key': {
    respond: responding(
      ({ authorization }) => authorization !== null && authorization !== key,
      () => json(403, { ...error, status: 403 }),
    ),
    // For orders the contract specifies no status, so the 403 is accepted.
    failures: all(
      [...wrongKeys.filter((id) => id !== 'orders-wrong-key'), 'message-wrong-key'],
      'expected 401, received 403, code "no"',
    ),
  },
  'sends no body with a 401': {
    respond: changing(401, () => new Response(null, { status: 401 })),
    failures: all([...noKeys, ...wrongKeys], `${notJson} nothing`),
  },
  'sends the status in an Error body as text': {
    respond: changing(400, () => json(400, { ...error, status: '400' })),
    failures: all(refusals, noErrorBody),
  },
  'sends another status in Error bodies': {
    respond: changing(404, () => json(404, error)),
    failures: all(missing, 'status in the Error body: expected 404, received 401'),
  },
  'sends ids as text': {
    respond: listing((pets) => pets.map((pet) => ({ ...pet, id: String(pet['id']) }))),
    failures: all(lists, '[0].id: expected an int64 number, received string.'),
  },
  'sends null for a missing status': {
    respond: listing((pets) => pets.map((pet) => ({ status: null, ...pet }))),
    failures: all(['list', 'limit-100'], 'status: expected a value or none, received null'),
  },
  'lists a pet twice': {
    respond: listing((pets) => (pets.length < 5 ? pets : [...pets, pets[0]])),
    failures: all(['list', 'limit-100', 'filter-available'], 'the id 1 appears twice'),
  },
  'returns 25 pets by default': {
    respond: (request, forward) =>
      request.query.size === 0 ? listing(() => many(25))(request, forward) : forward(),
    failures: { list: 'expected at most 20 pets, received 25' },
  },
  'ignores the limit': {
    respond: ({ query }, forward) => forward({ query: without(query, 'limit') }),
    failures: { 'limit-1': 'expected at most 1 pet, received 12' },
  },
  'ignores the filter': {
    respond: ({ query }, forward) => forward({ query: without(query, 'status') }),
    failures: {
      'filter-available': 'status of pet 3: expected "available", received "pending"',
      'filter-pending': 'status of pet 1: expected "pending", received "available"',
      'filter-sold': 'status of pet 1: expected "sold", received "available"',
    },
  },
  'omits pets that match the filter': {
    respond: responding(
      ({ query }) => query.get('status') === 'sold',
      () => json(200, []),
    ),
    failures: { 'filter-sold': 'pet 4 has this status but is not in the list of 0' },
  },
  'sends lists as text/plain': {
    respond: responding(isLimitOf(1), () => text('[]', 'text/plain')),
    failures: { 'limit-1': `${notJson} "text/plain"` },
  },
  'sends Latin-1': {
    respond: responding(isLimitOf(1), () => text(Buffer.from('["ä"]', 'latin1'), jsonType)),
    failures: { 'limit-1': 'body: expected valid JSON in UTF-8' },
  },
  'compresses bodies although the client accepts only identity': {
    respond: responding(isLimitOf(1), () => {
      const headers = { 'content-type': jsonType, 'content-encoding': 'gzip' };
      return new Response(gzipSync('[]'), { headers });
    }),
    failures: { 'limit-1': 'content-encoding: expected none, received "gzip"' },
  },
  redirects: {
    respond: responding(isGet, () => Response.redirect('http://127.0.0.1/v1/pets')),
    failures: {
      ...all(['get-no-key', 'get-wrong-key'], `expected 401, received 302, ${notJson} nothing`),
      ...all(['get', 'create', 'create-int64'], `expected 200, received 302, ${notJson} nothing`),
      ...all(missing, `expected 404, received 302, ${notJson} nothing`),
    },
  },
  'returns another pet': {
    respond: (request, forward) =>
      isGet(request) ? changing(200, () => json(200, rex))(request, forward) : forward(),
    failures: {
      get: 'expected pet 12, received pet 1',
      create: 'id: expected "13", received "1"',
      'create-int64': 'id: expected "14", received "1"',
    },
  },
  'responds with 200 for an unknown pet': {
    respond: changing(404, () => json(200, null)),
    failures: all(missing, 'body: expected an object, received null.'),
  },
  'responds with 200 to POST /pets': {
    respond: changing(201, () => json(200, rex)),
    failures: all(['create', 'create-int64'], 'expected 201, received 200, JSON'),
  },
  'loses the status': {
    respond: ({ body }, forward) => forward({ body: body.replace(',"status":"available"', '') }),
    failures: { create: 'status: expected "available", received nothing' },
  },
  'rounds integers': {
    respond: changing(201, async (response) => {
      const added = await response.text();
      return text(added.replace('9223372036854775807', '9223372036854774784'), jsonType, 201);
    }),
    failures: {
      'create-int64': 'categoryId: expected "9223372036854775807", received "9223372036854774784"',
    },
  },
  'decodes UTF-8 as Latin-1': {
    respond: ({ body }, forward) => forward({ body: Buffer.from(body).toString('latin1') }),
    failures: {
      'create-int64':
        'name: expected "Überprüfung 🐕", received "Ã\u009cberprÃ¼fung ð\u009f\u0090\u0095"',
    },
  },
  'names pets that have no name': {
    respond: (request, forward) =>
      is(request, 'POST /pets') && !request.body.includes('"name"')
        ? forward({ body: request.body.replace('{', '{"name":"Rex",') })
        : forward(),
    failures: { 'create-no-name': 'expected 400, received 201, JSON' },
  },
  'does not store the pet that it added': {
    respond: responding(
      (request) => is(request, 'GET /pets/13'),
      () => json(404, { ...error, status: 404 }),
    ),
    failures: { create: 'expected 200, received 404, code "no"' },
  },
  'responds with 422 to an invalid body': {
    respond: changing(400, () => json(422, { ...error, status: 422 })),
    failures: all(
      [...refusals, 'message-no-message', 'message-no-json', 'message-no-type'],
      'expected 400, received 422, code "no"',
    ),
  },
  'sends messages without a timestamp': {
    respond: changing(
      200,
      async (response) => json(200, { ...(await response.json()), createdAt: undefined }),
      'POST /messages',
    ),
    failures: { message: 'createdAt: expected an ISO 8601 timestamp, received nothing.' },
  },
  'returns another message': {
    respond: changing(
      200,
      async (response) => json(200, { ...(await response.json()), message: 'Another' }),
      'POST /messages',
    ),
    failures: { message: 'message: expected "Contract check", received "Another"' },
  },
  'fails to send messages': {
    respond: changing(200, () => json(500, { ...error, status: 500 }), 'POST /messages'),
    failures: { message: 'expected a 2xx status, received 500, code "no"' },
  },
};

/** Services that, as their names say, behave differently where the contract does not specify the behaviour. */
export const unusualServices: Readonly<Record<string, Pick<BrokenService, 'respond'>>> = {
  'responds with 500 to an invalid limit or status': {
    respond: responding(
      ({ query }) =>
        /^(?:0|101)$/.test(query.get('limit') ?? '') || query.get('status') === 'unknown',
      () => text('<h1>Oops</h1>', 'text/html', 500),
    ),
  },
  'has no orders': {
    respond: responding(
      (request) => is(request, 'GET /store/orders'),
      () => text('', 'text/plain', 501),
    ),
  },
  'sends no deprecation headers': {
    respond: async (_, forward) => {
      const response = await forward();
      for (const name of ['sunset', 'link']) response.headers.delete(name);
      return response;
    },
  },
  'has one category, and refuses others': {
    respond: (request, forward) =>
      is(request, 'POST /pets') &&
      request.authorization === key &&
      !request.body.includes('"categoryId":7')
        ? json(400, { ...error, status: 400 })
        : listing((pets) => pets.map((pet) => ({ ...pet, categoryId: 7 })))(request, forward),
  },
  'lists other pets of a status than the first 100': {
    respond: async (request, forward) => {
      if (is(request, 'GET /pets/99'))
        return changing(404, () => json(200, available[99]))(request, forward);
      const { query } = request;
      const status = query.get('status');
      const limit = Number(query.get('limit') ?? 20);
      const page = status === null ? available.slice(0, limit) : available.slice(-limit);
      const found = [null, 'available'].includes(status) ? page : [];
      return listing(() => found)(request, forward);
    },
  },
  'has the pets that are expected to be unknown': {
    respond: async (request, forward) => {
      const [, id] = /^GET \/pets\/(2147483647|9223372036854775807)$/.exec(request.operation) ?? [];
      if (id === undefined) return forward();
      const pet = `{"id":${id},"name":"Rex","categoryId":1}`;
      return changing(404, () => text(pet, jsonType))(request, forward);
    },
  },
  'responds to a message with 202, and sends its errors as text': {
    respond: async (request, forward) => {
      const response = await forward();
      if (!is(request, 'POST /messages')) return response;
      return response.status === 200
        ? text(await response.text(), `${jsonType}; charset=utf-8`, 202)
        : text('No.', 'text/plain', response.status);
    },
  },
};

function json(status: number, body: unknown): Response {
  return text(stringifyJson(body), jsonType, status);
}

function text(body: string | Uint8Array<ArrayBuffer>, type: string, status = 200): Response {
  return new Response(body, { status, headers: { 'content-type': type } });
}

function without(query: URLSearchParams, name: string): URLSearchParams {
  const rest = new URLSearchParams(query);
  rest.delete(name);
  return rest;
}
