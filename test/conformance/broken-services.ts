import { gzipSync } from 'node:zlib';
import { readingChecks } from '../../src/conformance/reading.ts';
import { writingChecks } from '../../src/conformance/writing.ts';
import { parseJson, stringifyJson } from '../../src/contract/json.ts';

/** A service that differs from the contract in one way, and the checks that must fail for it. */
export interface BrokenService {
  readonly name: string;
  /** Responds to a request; `forward` forwards it, changed or not, to a service that follows the contract. */
  readonly respond: (request: ReceivedRequest, forward: Forward) => Response | Promise<Response>;
  /** The ids of the failing checks, with what they report. */
  readonly failures: Readonly<Record<string, string>>;
}

/** A request, as the contract names its parts. */
export interface ReceivedRequest {
  /** Method and path below the base URL, such as `GET /pets`. */
  readonly operation: string;
  readonly query: URLSearchParams;
  readonly authorization: string | null;
  readonly body: string;
}

/** Returns the correct response to the request, after changing some of its parts. */
export type Forward = (changed?: Partial<Omit<ReceivedRequest, 'operation'>>) => Promise<Response>;

const key = 'Bearer demo-key';
const ids = [...readingChecks, ...writingChecks].map(({ id }) => id);
const noKeys = ids.filter((id) => /^(?!message).*-no-key$/.test(id));
const wrongKeys = ids.filter((id) => /^(?!message).*-wrong-key$/.test(id));
const filters = ['filter-available', 'filter-pending', 'filter-sold'];
const lists = ['list', 'limit-1', 'limit-100', ...filters];
const refusals = writingChecks
  .filter(({ rule }) => rule.endsWith(': 400 with an Error body'))
  .map(({ id }) => id);
const error = { code: 'no', message: 'No.', status: 401 };
const rex = { id: 1, name: 'Rex', categoryId: 1 };

const is = (request: ReceivedRequest, ...operations: string[]) =>
  operations.includes(request.operation);
const isGet = ({ operation }: ReceivedRequest) => /^GET \/pets\/\d+$/.test(operation);
const all = (ids: readonly string[], seen: string) =>
  Object.fromEntries(ids.map((id) => [id, seen]));

/** Responds correctly, but changes lists of animals. */
const listing =
  (change: (pets: Record<string, unknown>[]) => unknown) =>
  async (request: ReceivedRequest, forward: Forward): Promise<Response> => {
    const response = await forward();
    if (!is(request, 'GET /pets') || response.status !== 200) return response;
    return json(200, change(parseJson(await response.text()) as Record<string, unknown>[]));
  };

/** Responds correctly, but changes errors with this status. */
const failing =
  (status: number, change: () => Response) =>
  async (_: ReceivedRequest, forward: Forward): Promise<Response> => {
    const response = await forward();
    return response.status === status ? change() : response;
  };

/** Services that violate the contract in one way each. The file is long because it is a list. */
export const brokenServices: readonly BrokenService[] = [
  {
    name: 'requires no key',
    respond: (request, forward) => forward({ authorization: request.authorization ?? key }),
    failures: {
      ...all([...noKeys, 'message-no-key'], 'expected 401, received 200, JSON'),
      'list-no-key': 'expected 401, received 200, an array of 12',
      'orders-no-key': 'expected 401, received 200, an array of 2',
      'create-no-key': 'expected 401, received 201, JSON',
    },
  },
  {
    name: 'accepts any key for orders',
    respond: (request, forward) =>
      is(request, 'GET /store/orders') && request.authorization !== null
        ? forward({ authorization: key })
        : forward(),
    failures: { 'orders-wrong-key': 'expected 401, received 200, an array of 2' },
  },
  {
    name: 'responds with 403 to a wrong key',
    respond: (request, forward) =>
      request.authorization !== null && request.authorization !== key
        ? json(403, { ...error, status: 403 })
        : forward(),
    // For orders the contract specifies no status, so the 403 is accepted.
    failures: all(
      [...wrongKeys.filter((id) => id !== 'orders-wrong-key'), 'message-wrong-key'],
      'expected 401, received 403, code "no"',
    ),
  },
  {
    name: 'sends no body with a 401',
    respond: failing(401, () => new Response(null, { status: 401 })),
    failures: all(
      [...noKeys, ...wrongKeys],
      'content-type: expected application/json, received null',
    ),
  },
  {
    name: 'sends a 401 as HTML',
    respond: failing(401, () => text('<h1>No</h1>', 'text/html', 401)),
    failures: all(
      [...noKeys, ...wrongKeys],
      'content-type: expected application/json, received "text/html"',
    ),
  },
  {
    name: 'sends errors without a code',
    respond: failing(404, () => json(404, { message: 'No.', status: 404 })),
    failures: all(
      ['get-missing', 'get-int64'],
      'expected an Error body with code, message and status',
    ),
  },
  {
    name: 'sends the status in an Error body as text',
    respond: failing(400, () => json(400, { ...error, status: '400' })),
    failures: all(refusals, 'expected an Error body with code, message and status'),
  },
  {
    name: 'sends another status in Error bodies',
    respond: failing(404, () => json(404, error)),
    failures: all(
      ['get-missing', 'get-int64'],
      'status in the Error body: expected 404, received 401',
    ),
  },
  {
    name: 'wraps lists in an object',
    respond: listing((pets) => ({ pets })),
    failures: all(lists, 'body: expected an array, received object.'),
  },
  {
    name: 'sends ids as text',
    respond: listing((pets) => pets.map((pet) => ({ ...pet, id: String(pet['id']) }))),
    failures: all(lists, '[0].id: expected an int64 number, received string.'),
  },
  {
    name: 'lists animals without a name',
    respond: listing((pets) => pets.map(({ name, ...pet }) => pet)),
    failures: all(lists, '[0].name: expected a string, received nothing.'),
  },
  {
    name: 'lists an animal with an unknown status',
    respond: listing(([pet]) => [{ ...pet, status: 'lost' }]),
    failures: all(lists, '[0].status: expected one of available, pending, sold, received string.'),
  },
  {
    name: 'sends null for a missing status',
    respond: listing((pets) => pets.map((pet) => ({ status: null, ...pet }))),
    failures: all(['list', 'limit-100'], 'status: expected a value or none, received null'),
  },
  {
    name: 'lists an animal twice',
    respond: listing((pets) => (pets.length < 5 ? pets : [...pets, pets[0]])),
    failures: all(['list', 'limit-100', 'filter-available'], 'the id 1 appears twice'),
  },
  {
    name: 'returns 25 animals by default',
    respond: (request, forward) =>
      is(request, 'GET /pets') && request.authorization === key && request.query.size === 0
        ? json(
            200,
            Array.from({ length: 25 }, (_, id) => ({ ...rex, id })),
          )
        : forward(),
    failures: { list: 'expected at most 20 animals, received 25' },
  },
  {
    name: 'ignores the limit',
    respond: ({ query }, forward) => forward({ query: without(query, 'limit') }),
    failures: { 'limit-1': 'expected at most 1 animal, received 12' },
  },
  {
    name: 'refuses limits above 50',
    respond: ({ query }, forward) =>
      Number(query.get('limit')) > 50 ? json(400, { ...error, status: 400 }) : forward(),
    failures: all(['limit-100', ...filters], 'expected 200, received 400, code "no"'),
  },
  {
    name: 'ignores the filter',
    respond: ({ query }, forward) => forward({ query: without(query, 'status') }),
    failures: {
      'filter-available': 'status of animal 3: expected "available", received "pending"',
      'filter-pending': 'status of animal 1: expected "pending", received "available"',
      'filter-sold': 'status of animal 1: expected "sold", received "available"',
    },
  },
  {
    name: 'omits animals that match the filter',
    respond: ({ query }, forward) => (query.get('status') === 'sold' ? json(200, []) : forward()),
    failures: { 'filter-sold': 'animal 4 has this status but is not in the list of 0' },
  },
  {
    name: 'sends lists as text/plain',
    respond: async (request, forward) =>
      is(request, 'GET /pets') && request.query.size === 0 && request.authorization === key
        ? text(await (await forward()).text(), 'text/plain')
        : forward(),
    failures: { list: 'content-type: expected application/json, received "text/plain"' },
  },
  {
    name: 'sends Latin-1',
    respond: (request, forward) =>
      request.query.get('limit') === '1'
        ? text(Buffer.from('[{"id":1,"name":"Bär","categoryId":1}]', 'latin1'), 'application/json')
        : forward(),
    failures: { 'limit-1': 'body: expected valid JSON in UTF-8' },
  },
  {
    name: 'truncates bodies',
    respond: (request, forward) =>
      request.query.get('limit') === '1' ? text('[{"id":1,', 'application/json') : forward(),
    failures: { 'limit-1': 'body: expected valid JSON in UTF-8' },
  },
  {
    name: 'compresses bodies although the client accepts only identity',
    respond: (request, forward) =>
      request.query.get('limit') === '1'
        ? new Response(gzipSync('[]'), {
            headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
          })
        : forward(),
    failures: { 'limit-1': 'content-encoding: expected none, received "gzip"' },
  },
  {
    name: 'redirects',
    respond: (request, forward) =>
      isGet(request)
        ? new Response(null, { status: 302, headers: { location: '/v1/pets' } })
        : forward(),
    failures: {
      ...all(
        ['get-no-key', 'get-wrong-key'],
        'expected 401, received 302, content-type: expected application/json, received null',
      ),
      ...all(
        ['get', 'create', 'create-int64'],
        'expected 200, received 302, content-type: expected application/json, received null',
      ),
      ...all(
        ['get-missing', 'get-int64'],
        'expected 404, received 302, content-type: expected application/json, received null',
      ),
    },
  },
  {
    name: 'returns another animal',
    respond: async (request, forward) => {
      const response = await forward();
      return isGet(request) && response.status === 200 ? json(200, rex) : response;
    },
    failures: {
      get: 'expected animal 12, received animal 1',
      create: 'id: expected "13", received "1"',
      'create-int64': 'id: expected "14", received "1"',
    },
  },
  {
    name: 'responds with 200 for an unknown animal',
    respond: failing(404, () => json(200, null)),
    failures: all(['get-missing', 'get-int64'], 'body: expected an object, received null.'),
  },
  {
    name: 'reads ids as 32 bits',
    respond: (request, forward) =>
      /\d{11}/.test(request.operation) && request.authorization === key
        ? json(400, { ...error, status: 400 })
        : forward(),
    failures: { 'get-int64': 'expected 404, received 400, code "no"' },
  },
  {
    name: 'responds with 200 to POST /pets',
    respond: (_, forward) => forward().then((it) => (it.status === 201 ? json(200, rex) : it)),
    failures: all(['create', 'create-int64'], 'expected 201, received 200, JSON'),
  },
  {
    name: 'loses the status',
    respond: (request, forward) =>
      is(request, 'POST /pets')
        ? forward({ body: request.body.replace(',"status":"available"', '') })
        : forward(),
    failures: { create: 'status: expected "available", received nothing' },
  },
  {
    name: 'rounds integers',
    respond: async (request, forward) => {
      const response = await forward();
      if (!is(request, 'POST /pets') || response.status !== 201) return response;
      const added = (await response.text()).replace('9223372036854775807', '9223372036854774784');
      return text(added, 'application/json', 201);
    },
    failures: {
      'create-int64': 'categoryId: expected "9223372036854775807", received "9223372036854774784"',
    },
  },
  {
    name: 'decodes UTF-8 as Latin-1',
    respond: (request, forward) =>
      is(request, 'POST /pets')
        ? forward({ body: Buffer.from(request.body).toString('latin1') })
        : forward(),
    failures: {
      'create-int64':
        'name: expected "Überprüfung 🐕", received "Ã\u009cberprÃ¼fung ð\u009f\u0090\u0095"',
    },
  },
  {
    name: 'does not store the animal that it added',
    respond: (request, forward) =>
      request.operation === 'GET /pets/13' ? json(404, { ...error, status: 404 }) : forward(),
    failures: { create: 'expected 200, received 404, code "no"' },
  },
  {
    name: 'responds with 422 to an invalid body',
    respond: failing(400, () => json(422, { ...error, status: 422 })),
    failures: all(
      [...refusals, 'message-no-message', 'message-no-json', 'message-no-type'],
      'expected 400, received 422, code "no"',
    ),
  },
  {
    name: 'adds animals without a name',
    respond: (request, forward) =>
      is(request, 'POST /pets') && !request.body.includes('"name"') ? json(201, rex) : forward(),
    failures: { 'create-no-name': 'expected 400, received 201, JSON' },
  },
  {
    name: 'accepts a categoryId beyond int64',
    respond: (request, forward) =>
      request.body.includes('9223372036854775808') ? json(201, rex) : forward(),
    failures: { 'create-beyond-int64-categoryId': 'expected 400, received 201, JSON' },
  },
  {
    name: 'sends messages without a timestamp',
    respond: async (request, forward) => {
      const response = await forward();
      if (!is(request, 'POST /messages') || response.status !== 200) return response;
      const { createdAt, ...message } = JSON.parse(await response.text());
      return json(200, message);
    },
    failures: { message: 'createdAt: expected an ISO 8601 timestamp, received nothing.' },
  },
  {
    name: 'fails to send messages',
    respond: (request, forward) =>
      forward().then((response) =>
        is(request, 'POST /messages') && response.status === 200
          ? json(500, { ...error, status: 500 })
          : response,
      ),
    failures: { message: 'expected a 2xx status, received 500, code "no"' },
  },
];

/** Services that behave differently where the contract does not specify the behaviour. */
export const unusualServices: readonly Omit<BrokenService, 'failures'>[] = [
  {
    name: 'responds with 500 to an invalid limit or status',
    respond: ({ query }, forward) =>
      ['0', '101'].includes(query.get('limit') ?? '') || query.get('status') === 'unknown'
        ? text('<h1>Oops</h1>', 'text/html', 500)
        : forward(),
  },
  {
    name: 'accepts an invalid limit or status',
    respond: ({ query, authorization }, forward) =>
      authorization === key && (query.get('limit') === '101' || query.get('status') === 'unknown')
        ? json(
            200,
            Array.from({ length: 101 }, (_, id) => ({ ...rex, id })),
          )
        : forward(),
  },
  {
    name: 'has no orders',
    respond: (request, forward) =>
      is(request, 'GET /store/orders') ? text('', 'text/plain', 501) : forward(),
  },
  {
    name: 'sends no deprecation headers',
    respond: async (_, forward) => {
      const response = await forward();
      response.headers.delete('sunset');
      response.headers.delete('link');
      return response;
    },
  },
  {
    name: 'refuses unknown categories',
    respond: (request, forward) =>
      request.authorization === key && request.body.includes('9223372036854775807')
        ? json(400, { ...error, status: 400 })
        : forward(),
  },
  {
    name: 'sends additional fields',
    respond: listing((pets) => pets.map((pet) => ({ ...pet, tag: 'new' }))),
  },
  {
    name: 'responds to a message with 202, and sends its errors as text',
    respond: async (request, forward) => {
      const response = await forward();
      if (!is(request, 'POST /messages')) return response;
      return response.status === 200
        ? text(await response.text(), 'application/json; charset=utf-8', 202)
        : text('No.', 'text/plain', response.status);
    },
  },
];

function json(status: number, body: unknown): Response {
  return text(stringifyJson(body), 'application/json', status);
}

function text(body: string | Uint8Array<ArrayBuffer>, type: string, status = 200): Response {
  return new Response(body, { status, headers: { 'content-type': type } });
}

function without(query: URLSearchParams, name: string): URLSearchParams {
  const rest = new URLSearchParams(query);
  rest.delete(name);
  return rest;
}
