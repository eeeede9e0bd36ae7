import { gzipSync } from 'node:zlib';
import { parseJson, stringifyJson } from '../../src/contract/json.ts';

/** One way to differ from the contract: how requests are answered, and what a check must see. */
export interface BrokenService {
  readonly name: string;
  /** `right` asks a service that keeps the contract, as the request is or as another one. */
  readonly answer: (asked: Asked, right: Right) => Response | Promise<Response>;
  /** Which checks fail, and what they tell. */
  readonly found: Readonly<Record<string, string>>;
}

/** A request in the words of the contract. */
export interface Asked {
  /** Method and path below the base address, such as `GET /pets`. */
  readonly operation: string;
  readonly query: URLSearchParams;
  readonly authorization: string | null;
  readonly body: string;
}

/** The answer to the request with some of its parts changed. */
export type Right = (changed?: Partial<Omit<Asked, 'operation'>>) => Promise<Response>;

const key = 'Bearer demo-key';
const noKeys = ['list-no-key', 'get-no-key', 'orders-no-key', 'create-no-key'];
const wrongKeys = ['list-wrong-key', 'get-wrong-key', 'orders-wrong-key', 'create-wrong-key'];
const filters = ['filter-available', 'filter-pending', 'filter-sold'];
const lists = ['list', 'limit-1', 'limit-100', ...filters];
const refusals = [
  'create-no-name',
  'create-no-category',
  'create-wrong-name',
  'create-wrong-category',
  'create-fraction',
  'create-beyond-int64',
  'create-wrong-status',
];
const error = { code: 'no', message: 'No.', status: 401 };
const rex = { id: 1, name: 'Rex', categoryId: 1 };

const is = (asked: Asked, ...operations: string[]) => operations.includes(asked.operation);
const isGet = ({ operation }: Asked) => operation.startsWith('GET /pets/');
const all = (ids: readonly string[], seen: string) =>
  Object.fromEntries(ids.map((id) => [id, seen]));

/** Answers as it should, but changes the lists of animals. */
const listing =
  (change: (pets: Record<string, unknown>[]) => unknown) =>
  async (asked: Asked, right: Right): Promise<Response> => {
    const response = await right();
    if (!is(asked, 'GET /pets') || response.status !== 200) return response;
    return json(200, change(parseJson(await response.text()) as Record<string, unknown>[]));
  };

/** Answers as it should, but changes the errors of this status. */
const failing =
  (status: number, change: () => Response) =>
  async (_: Asked, right: Right): Promise<Response> => {
    const response = await right();
    return response.status === status ? change() : response;
  };

/** Services that break the contract, one break each: a long file, for it is a long list. */
export const brokenServices: readonly BrokenService[] = [
  {
    name: 'asks nobody for a key',
    answer: (asked, right) => right({ authorization: asked.authorization ?? key }),
    found: {
      ...all(['list-no-key'], 'expected 401, received 200, an array of 12'),
      ...all(['get-no-key'], 'expected 401, received 200, JSON'),
      ...all(['orders-no-key'], 'expected 401, received 200, an array of 2'),
      ...all(['create-no-key'], 'expected 401, received 201, JSON'),
      ...all(['message-no-key'], 'expected 401, received 200, JSON'),
    },
  },
  {
    name: 'takes any key for its orders',
    answer: (asked, right) =>
      is(asked, 'GET /store/orders') && asked.authorization !== null
        ? right({ authorization: key })
        : right(),
    found: { 'orders-wrong-key': 'expected 401, received 200, an array of 2' },
  },
  {
    name: 'answers 403 for a wrong key',
    answer: (asked, right) =>
      asked.authorization !== null && asked.authorization !== key
        ? json(403, { ...error, status: 403 })
        : right(),
    // Of the orders no status is published: that they are not told is enough.
    found: all(
      ['list-wrong-key', 'get-wrong-key', 'create-wrong-key', 'message-wrong-key'],
      'expected 401, received 403, code "no"',
    ),
  },
  {
    name: 'sends no body with a 401',
    answer: failing(401, () => new Response(null, { status: 401 })),
    found: all([...noKeys, ...wrongKeys], 'content-type: expected application/json, received null'),
  },
  {
    name: 'sends a 401 as HTML',
    answer: failing(401, () => text('<h1>No</h1>', 'text/html', 401)),
    found: all(
      [...noKeys, ...wrongKeys],
      'content-type: expected application/json, received "text/html"',
    ),
  },
  {
    name: 'sends errors without a code',
    answer: failing(404, () => json(404, { message: 'No.', status: 404 })),
    found: all(['get-missing', 'get-int64'], '404 without code, message and status in its body'),
  },
  {
    name: 'tells the status of an error as text',
    answer: failing(400, () => json(400, { ...error, status: '400' })),
    found: all(refusals, '400 without code, message and status in its body'),
  },
  {
    name: 'tells another status in its Error bodies',
    answer: failing(404, () => json(404, error)),
    found: all(['get-missing', 'get-int64'], '404, but its Error body says 401'),
  },
  {
    name: 'wraps its lists',
    answer: listing((pets) => ({ pets })),
    found: all(lists, 'body: expected an array, received object.'),
  },
  {
    name: 'writes ids as text',
    answer: listing((pets) => pets.map((pet) => ({ ...pet, id: String(pet['id']) }))),
    found: all(lists, '[0].id: expected an int64 number, received string.'),
  },
  {
    name: 'has animals without a name',
    answer: listing((pets) => pets.map(({ name, ...pet }) => pet)),
    found: all(lists, '[0].name: expected a string, received nothing.'),
  },
  {
    name: 'has animals of a status of its own',
    answer: listing(([pet]) => [{ ...pet, status: 'lost' }]),
    found: all(lists, '[0].status: expected one of available, pending, sold, received string.'),
  },
  {
    name: 'writes null for no status',
    answer: listing((pets) => pets.map((pet) => ({ status: null, ...pet }))),
    found: all(['list', 'limit-100'], 'status: expected a status or none, received null'),
  },
  {
    name: 'lists an animal twice',
    answer: listing((pets) => (pets.length < 5 ? pets : [...pets, pets[0]])),
    found: all(['list', 'limit-100', 'filter-available'], 'the id 1 is there twice'),
  },
  {
    name: 'has a page of 25 when no limit is given',
    answer: (asked, right) =>
      is(asked, 'GET /pets') && asked.authorization === key && asked.query.size === 0
        ? json(
            200,
            Array.from({ length: 25 }, (_, id) => ({ ...rex, id })),
          )
        : right(),
    found: { list: 'expected at most 20 animals, received 25' },
  },
  {
    name: 'ignores the limit',
    answer: ({ query }, right) => right({ query: without(query, 'limit') }),
    found: { 'limit-1': 'expected at most 1 animal, received 12' },
  },
  {
    name: 'takes no limit above 50',
    answer: ({ query }, right) =>
      Number(query.get('limit')) > 50 ? json(400, { ...error, status: 400 }) : right(),
    found: all(['limit-100', ...filters], 'expected 200, received 400, code "no"'),
  },
  {
    name: 'ignores the filter',
    answer: ({ query }, right) => right({ query: without(query, 'status') }),
    found: {
      'filter-available': 'animal 3 has the status "pending"',
      'filter-pending': 'animal 1 has the status "available"',
      'filter-sold': 'animal 1 has the status "available"',
    },
  },
  {
    name: 'filters some animals away',
    answer: ({ query }, right) => (query.get('status') === 'sold' ? json(200, []) : right()),
    found: { 'filter-sold': 'animal 4 has this status and is not among 0' },
  },
  {
    name: 'sends its lists as text/plain',
    answer: async (asked, right) =>
      is(asked, 'GET /pets') && asked.query.size === 0 && asked.authorization === key
        ? text(await (await right()).text(), 'text/plain')
        : right(),
    found: { list: 'content-type: expected application/json, received "text/plain"' },
  },
  {
    name: 'writes Latin-1',
    answer: (asked, right) =>
      asked.query.get('limit') === '1'
        ? text(Buffer.from('[{"id":1,"name":"Bär","categoryId":1}]', 'latin1'), 'application/json')
        : right(),
    found: { 'limit-1': 'a body that is not JSON in UTF-8' },
  },
  {
    name: 'cuts its bodies off',
    answer: (asked, right) =>
      asked.query.get('limit') === '1' ? text('[{"id":1,', 'application/json') : right(),
    found: { 'limit-1': 'a body that is not JSON in UTF-8' },
  },
  {
    name: 'encodes unasked',
    answer: (asked, right) =>
      asked.query.get('limit') === '1'
        ? new Response(gzipSync('[]'), {
            headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
          })
        : right(),
    found: { 'limit-1': 'a body encoded as "gzip"' },
  },
  {
    name: 'redirects',
    answer: (asked, right) =>
      isGet(asked)
        ? new Response(null, { status: 302, headers: { location: '/v1/pets' } })
        : right(),
    found: {
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
    name: 'answers with another animal',
    answer: async (asked, right) => {
      const response = await right();
      return isGet(asked) && response.status === 200 ? json(200, rex) : response;
    },
    found: {
      get: 'asked for animal 12, received animal 1',
      create: 'id: expected "13", received "1"',
      'create-int64': 'id: expected "14", received "1"',
    },
  },
  {
    name: 'answers 200 for an animal that is not there',
    answer: failing(404, () => json(200, null)),
    found: all(['get-missing', 'get-int64'], 'body: expected an object, received null.'),
  },
  {
    name: 'reads ids as 32 bits',
    answer: (asked, right) =>
      /\d{11}/.test(asked.operation) && asked.authorization === key
        ? json(400, { ...error, status: 400 })
        : right(),
    found: { 'get-int64': 'expected 404, received 400, code "no"' },
  },
  {
    name: 'answers 200 for an animal that was added',
    answer: (_, right) => right().then((it) => (it.status === 201 ? json(200, rex) : it)),
    found: all(['create', 'create-int64'], 'expected 201, received 200, JSON'),
  },
  {
    name: 'forgets the status',
    answer: (asked, right) =>
      is(asked, 'POST /pets')
        ? right({ body: asked.body.replace(',"status":"available"', '') })
        : right(),
    found: { create: 'status: expected "available", received nothing' },
  },
  {
    name: 'rounds',
    answer: async (asked, right) => {
      const response = await right();
      if (!is(asked, 'POST /pets') || response.status !== 201) return response;
      const added = (await response.text()).replace('9223372036854775807', '9223372036854774784');
      return text(added, 'application/json', 201);
    },
    found: {
      'create-int64': 'categoryId: expected "9223372036854775807", received "9223372036854774784"',
    },
  },
  {
    name: 'mistakes UTF-8',
    answer: (asked, right) =>
      is(asked, 'POST /pets')
        ? right({ body: Buffer.from(asked.body).toString('latin1') })
        : right(),
    found: {
      'create-int64':
        'name: expected "Überprüfung 🐕", received "Ã\u009cberprÃ¼fung ð\u009f\u0090\u0095"',
    },
  },
  {
    name: 'does not keep what it added',
    answer: (asked, right) =>
      asked.operation === 'GET /pets/13' ? json(404, { ...error, status: 404 }) : right(),
    found: { create: 'expected 200, received 404, code "no"' },
  },
  {
    name: 'answers 422 for a wrong body',
    answer: failing(400, () => json(422, { ...error, status: 422 })),
    found: all(
      [...refusals, 'message-no-message', 'message-no-json', 'message-no-type'],
      'expected 400, received 422, code "no"',
    ),
  },
  {
    name: 'adds animals without a name',
    answer: (asked, right) => (asked.body === '{"categoryId":1}' ? json(201, rex) : right()),
    found: { 'create-no-name': 'expected 400, received 201, JSON' },
  },
  {
    name: 'takes a categoryId that it can not keep',
    answer: (asked, right) =>
      asked.body.includes('9223372036854775808') ? json(201, rex) : right(),
    found: { 'create-beyond-int64': 'expected 400, received 201, JSON' },
  },
  {
    name: 'sends messages without a timestamp',
    answer: async (asked, right) => {
      const response = await right();
      if (!is(asked, 'POST /messages') || response.status !== 200) return response;
      const { createdAt, ...message } = JSON.parse(await response.text());
      return json(200, message);
    },
    found: { message: 'createdAt: expected a string, received nothing.' },
  },
  {
    name: 'fails to send messages',
    answer: (asked, right) =>
      right().then((response) =>
        is(asked, 'POST /messages') && response.status === 200
          ? json(500, { ...error, status: 500 })
          : response,
      ),
    found: { message: 'expected a success, received 500, code "no"' },
  },
];

/** Services that differ where the contract says nothing. */
export const unusualServices: readonly Omit<BrokenService, 'found'>[] = [
  {
    name: 'fails at an invalid limit or status',
    answer: ({ query }, right) =>
      ['0', '101'].includes(query.get('limit') ?? '') || query.get('status') === 'unknown'
        ? text('<h1>Oops</h1>', 'text/html', 500)
        : right(),
  },
  {
    name: 'takes an invalid limit and status',
    answer: ({ query, authorization }, right) =>
      authorization === key && (query.get('limit') === '101' || query.get('status') === 'unknown')
        ? json(
            200,
            Array.from({ length: 101 }, (_, id) => ({ ...rex, id })),
          )
        : right(),
  },
  {
    name: 'has no orders',
    answer: (asked, right) =>
      is(asked, 'GET /store/orders') ? text('', 'text/plain', 501) : right(),
  },
  {
    name: 'announces nothing',
    answer: async (_, right) => {
      const response = await right();
      response.headers.delete('sunset');
      response.headers.delete('link');
      return response;
    },
  },
  {
    name: 'knows its categories',
    answer: (asked, right) =>
      asked.authorization === key && asked.body.includes('9223372036854775807')
        ? json(400, { ...error, status: 400 })
        : right(),
  },
  {
    name: 'has more fields',
    answer: listing((pets) => pets.map((pet) => ({ ...pet, tag: 'new' }))),
  },
  {
    name: 'answers a message with 202, and its errors in words',
    answer: async (asked, right) => {
      const response = await right();
      if (!is(asked, 'POST /messages')) return response;
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
