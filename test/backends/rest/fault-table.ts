import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { parseJson } from '../../../src/contract/json.ts';
import { encodeResponse, type Respond } from '../../support/fault-server.ts';

/** The API key of the operations. */
export const key = 'faults-secret-key';

const pets = '[{"id":1,"name":"Rex","categoryId":2,"status":"sold"}]';
/** The operation of a fault without another one. */
export const listPets = '{ r: pets { id name status } }';
const listOrders = '{ r: orders }';
const addPet = 'mutation { r: addPet(input: { name: "Rex", categoryId: 2 }) { id } }';

/** A fault of the service, and the response that clients should get. */
export interface Fault {
  readonly name: string;
  readonly respond: Respond;
  /** The operation; by default lists pets. */
  readonly query?: string;
  /** The expected error code; undefined if the operation should succeed. */
  readonly code: string | undefined;
  readonly status?: number;
  readonly retryAfterMs?: unknown;
  /** The expected `data.r`; null by default. */
  readonly data?: unknown;
  /** The expected number of calls; one by default. */
  readonly attempts?: number;
}

const send =
  (bytes: string | Buffer): Respond =>
  (socket) =>
    socket.write(bytes);
const sendAndEnd =
  (bytes: string | Buffer): Respond =>
  (socket) =>
    socket.end(bytes);
const sendAndReset =
  (bytes: string | Buffer): Respond =>
  (socket) =>
    socket.write(bytes, () => socket.resetAndDestroy());

const unavailable = 'UPSTREAM_UNAVAILABLE';
const invalid = 'UPSTREAM_INVALID_RESPONSE';
const rex = [{ id: '1', name: 'Rex', status: 'sold' }];
const chunked = ['Transfer-Encoding: chunked'];

/** Every fault. */
export const faults: readonly Fault[] = [
  // The connection
  {
    name: 'reset before a response',
    respond: (socket) => socket.resetAndDestroy(),
    code: unavailable,
    attempts: 2,
  },
  {
    name: 'reset before the response to a write',
    query: addPet,
    respond: (socket) => socket.resetAndDestroy(),
    code: unavailable,
  },
  {
    name: 'FIN before a response',
    respond: (socket) => socket.end(),
    code: unavailable,
    attempts: 2,
  },
  {
    name: 'reset once, then a response',
    respond: (socket, attempt) =>
      attempt === 1 ? socket.resetAndDestroy() : socket.write(encodeResponse('200 OK', pets)),
    code: undefined,
    data: rex,
    attempts: 2,
  },
  {
    name: 'reset inside a body with a length',
    respond: sendAndReset(encodeResponse('200 OK', pets.slice(0, 20), ['Content-Length: 500'])),
    code: unavailable,
  },
  {
    name: 'FIN inside a body with a length',
    respond: sendAndEnd(encodeResponse('200 OK', pets.slice(0, 20), ['Content-Length: 500'])),
    code: unavailable,
  },
  {
    name: 'reset inside a chunked body',
    respond: sendAndReset(encodeResponse('200 OK', '10\r\n[{"id":1,"name":', chunked)),
    code: unavailable,
  },
  {
    name: 'FIN inside a chunked body',
    respond: sendAndEnd(encodeResponse('200 OK', '10\r\n[{"id":1,"name":', chunked)),
    code: unavailable,
  },
  {
    name: 'a body without a length, truncated by FIN',
    respond: sendAndEnd('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[{"id":1,"na'),
    code: invalid,
  },
  {
    name: 'a complete body without a length',
    respond: sendAndEnd(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${pets}`),
    code: undefined,
    data: rex,
  },
  // Time
  { name: 'no response', respond: () => {}, code: 'UPSTREAM_TIMEOUT' },
  { name: 'no response to a write', query: addPet, respond: () => {}, code: 'UPSTREAM_TIMEOUT' },
  {
    name: 'headers without a body',
    respond: send(encodeResponse('200 OK', '', ['Content-Length: 9'])),
    code: 'UPSTREAM_TIMEOUT',
  },
  {
    name: 'an endless slow body',
    respond: drip(encodeResponse('200 OK', '1\r\n[\r\n', chunked), '1\r\n \r\n'),
    code: 'UPSTREAM_TIMEOUT',
  },
  {
    name: 'endless slow headers',
    respond: drip('HTTP/1.1 200 OK\r\n', 'X: y\r\n'),
    code: 'UPSTREAM_TIMEOUT',
  },
  // HTTP
  { name: 'garbage', respond: send('\x00\x01garbage\r\n\r\n'), code: invalid },
  { name: 'another protocol', respond: send('SSH-2.0-OpenSSH_9.6\r\n'), code: invalid },
  {
    name: 'bad chunk sizes',
    respond: send(encodeResponse('200 OK', 'zz\r\n[]\r\n0\r\n\r\n', chunked)),
    code: invalid,
  },
  {
    name: 'two different lengths',
    respond: send(encodeResponse('200 OK', '[]', ['Content-Length: 2', 'Content-Length: 3'])),
    code: invalid,
  },
  {
    name: 'unsolicited 101',
    respond: send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    code: invalid,
  },
  {
    name: '103, then a response',
    respond: send(
      Buffer.concat([
        Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
        encodeResponse('200 OK', pets),
      ]),
    ),
    code: undefined,
    data: rex,
  },
  {
    name: '204 instead of a body',
    respond: send('HTTP/1.1 204 No Content\r\n\r\n'),
    code: invalid,
  },
  { name: '200 with an empty body', respond: send(encodeResponse('200 OK', '')), code: invalid },
  {
    name: '302 to another host',
    respond: send(encodeResponse('302 Found', '', ['Location: http://127.0.0.1:9/'])),
    code: 'UPSTREAM_ERROR',
    status: 302,
  },
  {
    name: '304 to an unconditional request',
    respond: send('HTTP/1.1 304 Not Modified\r\n\r\n'),
    code: 'UPSTREAM_ERROR',
    status: 304,
  },
  {
    name: 'status 999',
    respond: send(encodeResponse('999 Odd', '{}')),
    code: 'UPSTREAM_ERROR',
    status: 999,
  },
  {
    name: 'headers of 40 KB',
    respond: send(encodeResponse('200 OK', pets, [`X-Big: ${'x'.repeat(40_000)}`])),
    code: invalid,
  },
  {
    name: 'an extra response on the connection',
    respond: send(Buffer.concat([encodeResponse('200 OK', pets), encodeResponse('200 OK', '[]')])),
    code: undefined,
    data: rex,
  },
  // Statuses and Error bodies
  {
    name: 'empty 401',
    respond: send(encodeResponse('401 Unauthorized', '')),
    code: 'UNAUTHENTICATED',
    status: 401,
  },
  {
    name: '401 that repeats the key',
    respond: send(
      encodeResponse('401 Unauthorized', `{"code":"bad","message":"No key ${key}","status":401}`),
    ),
    code: 'UNAUTHENTICATED',
    status: 401,
  },
  {
    name: '403 with an Error body',
    respond: send(encodeResponse('403 Forbidden', '{"code":"no","message":"No.","status":403}')),
    code: 'FORBIDDEN',
    status: 403,
  },
  {
    name: '422 with problem+json',
    query: addPet,
    respond: send(
      encodeResponse('422 Unprocessable', '{"title":"Bad name","detail":"Too long"}', [
        'Content-Type: application/problem+json',
      ]),
    ),
    code: 'BAD_USER_INPUT',
    status: 422,
  },
  {
    name: '429 with Retry-After in seconds',
    respond: send(encodeResponse('429 Too Many', '', ['Retry-After: 3'])),
    code: 'RATE_LIMITED',
    status: 429,
    retryAfterMs: 3000,
  },
  {
    name: '429 with Retry-After as a date',
    respond: (socket) =>
      socket.write(
        encodeResponse('429 Too Many', '', [
          `Retry-After: ${new Date(Date.now() + 60_000).toUTCString()}`,
        ]),
      ),
    code: 'RATE_LIMITED',
    status: 429,
    retryAfterMs: expect.any(Number),
  },
  {
    name: '500 with a contract-shaped body',
    respond: send(
      encodeResponse(
        '500 Oops',
        '{"code":"db","message":"SELECT failed at 10.0.0.1 in /srv/db.js","status":500}',
      ),
    ),
    code: 'UPSTREAM_ERROR',
    status: 500,
  },
  {
    name: '502 with HTML',
    respond: send(
      encodeResponse('502 Bad Gateway', '<html>nginx/1.2.3 /srv/x</html>', [
        'Content-Type: text/html',
      ]),
    ),
    code: 'UPSTREAM_ERROR',
    status: 502,
    attempts: 2,
  },
  {
    name: '502 to a write',
    query: addPet,
    respond: send(encodeResponse('502 Bad Gateway', '')),
    code: 'UPSTREAM_ERROR',
    status: 502,
  },
  {
    name: '503 once, then a response',
    respond: (socket, attempt) =>
      socket.write(attempt === 1 ? encodeResponse('503 Busy', '') : encodeResponse('200 OK', pets)),
    code: undefined,
    data: rex,
    attempts: 2,
  },
  {
    name: '503 with Retry-After',
    respond: send(encodeResponse('503 Busy', '', ['Retry-After: 9'])),
    code: 'UPSTREAM_ERROR',
    status: 503,
    retryAfterMs: 9000,
  },
  {
    name: '404 with a truncated body',
    respond: sendAndReset(encodeResponse('404 Not Found', '{"code":"no', ['Content-Length: 500'])),
    code: 'NOT_FOUND',
    status: 404,
  },
  {
    name: '401 whose body never arrives',
    respond: send(encodeResponse('401 Unauthorized', '', ['Content-Length: 500'])),
    code: 'UNAUTHENTICATED',
    status: 401,
  },
  {
    name: '401 with a body of 200 MB',
    respond: flood('HTTP/1.1 401 Unauthorized\r\nContent-Type: text/html\r\n\r\n['),
    code: 'UNAUTHENTICATED',
    status: 401,
  },
  {
    name: '429 with an invalid Retry-After',
    respond: send(encodeResponse('429 Too Many', '', ['Retry-After: -1'])),
    code: 'RATE_LIMITED',
    status: 429,
  },
  // Bodies of successful responses
  {
    name: 'HTML with 200',
    respond: send(encodeResponse('200 OK', '<html>/srv/x</html>', ['Content-Type: text/html'])),
    code: invalid,
  },
  {
    name: 'JSON as text/plain',
    respond: send(encodeResponse('200 OK', pets, ['Content-Type: text/plain'])),
    code: invalid,
  },
  {
    name: 'JSON without a type',
    respond: send(`HTTP/1.1 200 OK\r\nContent-Length: ${pets.length}\r\n\r\n${pets}`),
    code: undefined,
    data: rex,
  },
  {
    name: 'truncated JSON',
    respond: send(encodeResponse('200 OK', pets.slice(0, -3))),
    code: invalid,
  },
  {
    name: 'an object instead of a list',
    respond: send(encodeResponse('200 OK', '{"pets":[]}')),
    code: invalid,
  },
  {
    name: 'null instead of a list',
    respond: send(encodeResponse('200 OK', 'null')),
    code: invalid,
  },
  {
    name: 'a missing id',
    respond: send(encodeResponse('200 OK', '[{"name":"Rex","categoryId":2}]')),
    code: invalid,
  },
  {
    name: 'an id as a string',
    respond: send(encodeResponse('200 OK', '[{"id":"1","name":"Rex","categoryId":2}]')),
    code: invalid,
  },
  {
    name: 'an id beyond 64 bits',
    respond: send(
      encodeResponse('200 OK', '[{"id":9223372036854775808,"name":"Rex","categoryId":2}]'),
    ),
    code: invalid,
  },
  {
    name: 'the maximum id of 64 bits',
    respond: send(
      encodeResponse('200 OK', '[{"id":9223372036854775807,"name":"Rex","categoryId":2}]'),
    ),
    code: undefined,
    data: [{ id: '9223372036854775807', name: 'Rex', status: null }],
  },
  {
    name: 'a name that is a number',
    respond: send(encodeResponse('200 OK', '[{"id":1,"name":7,"categoryId":2}]')),
    code: invalid,
  },
  {
    name: 'an unknown status',
    respond: send(
      encodeResponse('200 OK', '[{"id":1,"name":"Rex","categoryId":2,"status":"lost"}]'),
    ),
    code: invalid,
    data: [{ id: '1', name: 'Rex', status: null }],
  },
  {
    name: 'duplicate keys',
    respond: send(
      encodeResponse('200 OK', '[{"id":5,"id":1,"name":"Rex","categoryId":2,"status":"sold"}]'),
    ),
    code: undefined,
    data: rex,
  },
  {
    name: '__proto__ in a record',
    respond: send(
      encodeResponse(
        '200 OK',
        '[{"__proto__":{"status":"lost"},"id":1,"name":"Rex","categoryId":2,"status":"sold"}]',
      ),
    ),
    code: undefined,
    data: rex,
  },
  {
    name: '__proto__ in orders',
    query: listOrders,
    respond: send(encodeResponse('200 OK', '[{"__proto__":{"a":1},"b":12345678901234567890}]')),
    code: undefined,
    data: parseJson('[{"__proto__":{"a":1},"b":12345678901234567890}]'),
  },
  {
    name: 'orders nested 100,000 deep',
    query: listOrders,
    respond: send(encodeResponse('200 OK', '['.repeat(100_000) + ']'.repeat(100_000))),
    code: invalid,
  },
  {
    name: 'invalid UTF-8',
    respond: send(
      encodeResponse('200 OK', Buffer.from('[{"id":1,"name":"R\xe9x","categoryId":2}]', 'latin1')),
    ),
    code: invalid,
  },
  ...[
    { name: 'gzip', encode: gzipSync },
    { name: 'X-GZIP', encode: gzipSync },
    { name: 'br', encode: brotliCompressSync },
    { name: 'deflate', encode: deflateSync },
    { name: 'deflate (raw)', encode: deflateRawSync },
  ].flatMap(({ name, encode }): Fault[] => {
    const [coding] = name.split(' ');
    const respond = (body: string | Buffer, status = '200 OK') =>
      send(encodeResponse(status, encode(body), [`Content-Encoding: ${coding}`]));
    const refused = '{"code":"no","message":"No.","status":403}';
    return [
      { name: `unsolicited ${name}`, respond: respond(pets), code: undefined, data: rex },
      {
        name: `403 in ${name}`,
        respond: respond(refused, '403 No'),
        code: 'FORBIDDEN',
        status: 403,
      },
      {
        name: `200 MB of zeros in ${name}`,
        respond: respond(Buffer.alloc(200_000_000)),
        code: invalid,
      },
    ];
  }),
  {
    name: 'JSON that claims to be gzip',
    respond: send(encodeResponse('200 OK', pets, ['Content-Encoding: gzip'])),
    code: invalid,
  },
  {
    name: 'truncated gzip',
    respond: send(
      encodeResponse('200 OK', gzipSync(pets).subarray(0, -12), ['Content-Encoding: gzip']),
    ),
    code: invalid,
  },
  {
    name: 'an empty body that claims to be gzip',
    respond: send(encodeResponse('200 OK', '', ['Content-Encoding: gzip'])),
    code: invalid,
  },
  {
    name: 'gzip that is cut off',
    respond: sendAndReset(
      encodeResponse('200 OK', gzipSync(pets).subarray(0, 20), [
        'Content-Encoding: gzip',
        'Content-Length: 500',
      ]),
    ),
    code: unavailable,
  },
  {
    name: 'gzip without end',
    respond: drip(
      encodeResponse('200 OK', gzipSync(pets).subarray(0, 20), [
        'Content-Encoding: gzip',
        'Content-Length: 500',
      ]),
      '',
    ),
    code: 'UPSTREAM_TIMEOUT',
  },
  {
    name: '502 of zeros in gzip, 200 MB',
    query: addPet,
    respond: send(
      encodeResponse('502 Bad', gzipSync(Buffer.alloc(200_000_000)), ['Content-Encoding: gzip']),
    ),
    code: 'UPSTREAM_ERROR',
    status: 502,
  },
  {
    name: 'an unknown content coding',
    respond: send(encodeResponse('200 OK', pets, ['Content-Encoding: constructor'])),
    code: invalid,
  },
  {
    name: 'a body of 200 MB',
    respond: flood('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n['),
    code: invalid,
  },
  {
    name: 'a body of 200 MB with its length',
    respond: flood(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 200000000\r\n\r\n[',
    ),
    code: invalid,
  },
];

/** Sends `start`, then `bytes` every 20 milliseconds until the connection closes. */
function drip(start: string | Buffer, bytes: string): Respond {
  return (socket) => {
    socket.write(start);
    const timer = setInterval(() => socket.write(bytes), 20);
    socket.once('close', () => clearInterval(timer));
  };
}

/** Sends `start`, then 200 MB as fast as the client reads them. */
function flood(start: string): Respond {
  return (socket) => {
    socket.write(start);
    const chunk = Buffer.alloc(1_000_000, ' ');
    let left = 200;
    const more = () => {
      while (left > 0 && !socket.destroyed) {
        left--;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on('drain', more);
    more();
  };
}
