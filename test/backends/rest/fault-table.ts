import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { parseJson } from '../../../src/contract/json.ts';
import { encodeResponse, type Respond } from '../../support/fault-server.ts';

/** The API key of the operations. */
export const key = 'faults-secret-key';

const rex = { name: 'Rex', categoryId: 2, status: 'sold' };
const pets = JSON.stringify([{ id: 1, ...rex }]);
const listed = [{ id: '1', name: 'Rex', status: 'sold' }];

/** The operation of a fault without another one. */
export const listPets = '{ r: pets { id name status } }';
const listOrders = '{ r: orders }';
const addPet = 'mutation { r: addPet(input: { name: "Rex", categoryId: 2 }) { id status } }';

/** A write whose outcome is unknown. */
const unknownWrite = { query: addPet, outcome: 'UNKNOWN' } as const;

/** What a client should get, and what the service should see. */
interface Expected {
  /** The operation; by default lists pets. */
  readonly query?: string;
  readonly status?: number;
  readonly retryAfterMs?: unknown;
  /** The message that clients should get, if it matters. */
  readonly message?: string;
  /** The Error body that clients should get. */
  readonly error?: object;
  /** What became of a write. */
  readonly outcome?: 'NOT_DONE' | 'DONE' | 'UNKNOWN';
  /** The expected `data.r`; null by default. */
  readonly data?: unknown;
  /** The expected number of calls; one by default. */
  readonly attempts?: number;
}

/** A fault of the service, and the response that clients should get. */
export interface Fault extends Expected {
  readonly name: string;
  readonly respond: Respond;
  /** The expected error code; undefined if the operation should succeed. */
  readonly code: string | undefined;
}

/** Bytes to send, or a function that sends them. */
type Response = string | Buffer | Respond;

const fault = (
  name: string,
  code: string | undefined,
  response: Response,
  expected: Expected = {},
): Fault => ({
  name,
  code,
  respond: typeof response === 'function' ? response : (socket) => socket.write(response),
  ...expected,
});

/** The names and responses of faults that all have one error code. */
const faultsOf = (code: string, rows: readonly (readonly [string, Response, Expected?])[]) =>
  rows.map(([name, ...row]) => fault(name, code, ...row));

/** Responses that are not faults, although they are unusual. */
const served = (rows: readonly (readonly [string, Response, Expected?])[]) =>
  rows.map(([name, response, expected]) =>
    fault(name, undefined, response, { data: listed, ...expected }),
  );

const ok = (body: string | Buffer, ...headers: string[]) => encodeResponse('200 OK', body, headers);
const busy = encodeResponse('503 Busy', '');
const busyOnce: Respond = (socket, attempt) => socket.write(attempt === 1 ? busy : ok(pets));
const end =
  (bytes: string | Buffer): Respond =>
  (socket) =>
    socket.end(bytes);
const reset =
  (bytes: string | Buffer = ''): Respond =>
  (socket) =>
    socket.write(bytes, () => socket.resetAndDestroy());

/** A response whose Content-Length ends in a blank, which undici reads as a digit. */
const blankLength = (body: string | Buffer, ...headers: string[]) =>
  ok(body, ...headers, `Content-Length: ${body.length} `);

const chunked = 'Transfer-Encoding: chunked';
const longer = 'Content-Length: 500';
const part = pets.slice(0, 20);
const html = 'Content-Type: text/html';
const inGzip = 'Content-Encoding: gzip';
const typed = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const unterminated = '10\r\n[{"id":1,"name":';

const connectionFaults = [
  ...faultsOf('UPSTREAM_UNAVAILABLE', [
    ['reset before a response', reset(), { attempts: 2 }],
    ['reset before the response to a write', reset(), unknownWrite],
    ['reset inside a body with a length', reset(ok(part, longer))],
    ['FIN inside a body with a length', end(ok(part, longer))],
    ['FIN inside a body with a blank after its length', end(ok(part, `${longer} `))],
    ['FIN inside a chunked body', end(ok(unterminated, chunked))],
  ]),
  ...faultsOf('UPSTREAM_INVALID_RESPONSE', [
    ['a body without a length, truncated by FIN', end(`${typed}\r\n[{"id":1,"na`)],
  ]),
  ...served([['a complete body without a length', end(`${typed}\r\n${pets}`)]]),
];

const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const earlyHints = Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n');
const unasked = Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\nX: y\r\n\r\n'), ok(pets)]);

const httpFaults = [
  ...faultsOf('UPSTREAM_INVALID_RESPONSE', [
    ['garbage', '\x00\x01garbage\r\n\r\n'],
    ['bad chunk sizes', ok('zz\r\n[]\r\n0\r\n\r\n', chunked)],
    // llhttp, the parser of undici and Node, accepts only spaces there.
    ['a tab after Content-Length', ok(pets, `Content-Length: ${pets.length}\t`)],
    ['two different lengths', ok('[]', 'Content-Length: 2', 'Content-Length: 3')],
    ['bytes after the length', ok(pets.slice(0, -1), `Content-Length: ${pets.length - 2}`)],
    ['unsolicited 101', upgrade],
    ['204 instead of a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['200 with an empty body', ok('')],
    ['headers of 40 KB', ok(pets, `X-Big: ${'x'.repeat(40_000)}`)],
    // undici refuses it in `onHeadersComplete` (lib/dispatcher/client-h1.js).
    ['100, then a response', unasked],
    ['100 without a response', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['100 to a write', unasked, unknownWrite],
  ]),
  ...served([
    ['103, then a response', Buffer.concat([earlyHints, ok(pets)])],
    ['an extra response on the connection', Buffer.concat([ok(pets), ok('[]')])],
  ]),
];

/** Returns a row for a status, in which the expected status is that of the response. */
function refusal(
  name: string,
  code: string,
  line: string,
  body: string | Buffer = '',
  headers: readonly string[] = [],
  expected: Expected = {},
): Fault {
  const status = Number(line.slice(0, 3));
  return fault(name, code, encodeResponse(line, body, headers), { status, ...expected });
}

const zeros = Buffer.alloc(5_000_000);
/** 200 MB of zeros, in many members (RFC 1952, section 2.2). */
const gzipBomb = Buffer.concat(Array(40).fill(gzipSync(zeros)));
const hidden = '{"code":"db","message":"SELECT failed at 10.0.0.1 in /srv/db.js","status":500}';
const repeatsKey = `{"code":"bad ${key}","message":"No key ${key}, ${key}","status":401}`;
const no = { code: 'no', message: 'No.', status: 403 };
const forbidden = JSON.stringify({ ...no, trace: 'x' });
const problem = '{"type":"https://e.example/name","title":"Bad name","detail":"Too long"}';

/** A 429 whose Retry-After headers say three seconds. */
const limited = (name: string, ...values: string[]) => {
  const headers = values.map((value) => `Retry-After: ${value}`);
  return refusal(name, 'RATE_LIMITED', '429 Slow', '', headers, { retryAfterMs: 3000 });
};
const nginxPage = '<html>nginx/1.2.3 /srv/x</html>';
const cutNotFound = encodeResponse('404 Not Found', '{"code":"no', [longer]);
const unauthorized = `HTTP/1.1 401 Unauthorized\r\n${html}\r\n\r\n[`;
const notModified = 'HTTP/1.1 304 Not Modified\r\n\r\n';
const elsewhere = ['Location: http://127.0.0.1:9/'];
const tooLong = { code: 'https://e.example/name', message: 'Too long', status: 422 };

/** An error whose body is not the contract's, and the message that a client should get. */
const explained = (name: string, body: object, message: string, error?: object | undefined) =>
  refusal(name, 'BAD_USER_INPUT', '400 Bad', JSON.stringify(body), [isProblem], {
    message,
    error: error ?? { code: 'about:blank', message, status: 400 },
  });
const isProblem = 'Content-Type: application/problem+json';
const noMessage = 'The pet store returned HTTP status 400.';

const statuses = [
  refusal('302 to another host', 'UPSTREAM_ERROR', '302 Found', '', elsewhere),
  fault('304 to an unconditional request', 'UPSTREAM_ERROR', notModified, { status: 304 }),
  refusal('status 999', 'UPSTREAM_ERROR', '999 Odd', '{}'),
  refusal('empty 401', 'UNAUTHENTICATED', '401 Unauthorized'),
  refusal('401 that repeats the key', 'UNAUTHENTICATED', '401 Unauthorized', repeatsKey, [], {
    error: { code: 'bad [API key]', message: 'No key [API key], [API key]', status: 401 },
  }),
  refusal('403 with an Error body', 'FORBIDDEN', '403 Forbidden', forbidden, [], { error: no }),
  refusal('400 with another body', 'BAD_USER_INPUT', '400 Bad Request', '{"oops":1}'),
  refusal('422 with problem+json', 'BAD_USER_INPUT', '422 No', problem, [isProblem], {
    ...{ query: addPet, outcome: 'NOT_DONE', error: tooLong },
  }),
  explained('400 with an empty detail', { title: 'Bad', detail: '' }, 'Bad'),
  explained('400 with a blank detail', { type: '', title: 'Bad', detail: ' \n' }, 'Bad'),
  explained(
    '400 with the errors of ASP.NET',
    { title: 'Invalid.', errors: { Name: ['Too long.', 'No digits.'], $: 'No JSON.', Tag: null } },
    'Invalid. Name: Too long. Name: No digits. $: No JSON.',
  ),
  explained(
    '400 with the errors of RFC 9457',
    { title: 'Bad.', errors: [{ detail: 'No.', pointer: '#/name' }, { detail: 'Go.' }, null, {}] },
    'Bad. #/name: No. Go.',
  ),
  explained(
    '400 with errors of no field',
    { title: 'Bad.', errors: { '': ['No.'], Tag: 'Go.' } },
    'Bad. No. Tag: Go.',
  ),
  ...[null, 'x', 5, ['No.'], [{ detail: 5 }], { Name: { a: 'No.' } }].map((errors) =>
    explained(`400 with the errors ${JSON.stringify(errors)}`, { title: 'Bad', errors }, 'Bad'),
  ),
  ...[' ', ''].map((text) => {
    const body = { code: 'no', message: text, status: 400 };
    return explained(`400 with the message ${JSON.stringify(text)}`, body, noMessage, body);
  }),
  refusal('400 with empty texts', 'BAD_USER_INPUT', '400 Bad', '{"title":"","errors":"x"}', [], {
    message: noMessage,
  }),
  refusal('400 with two types', 'BAD_USER_INPUT', '400 Bad', forbidden, [html, isProblem], {
    message: 'No.',
    error: no,
  }),
  limited('429 with Retry-After in seconds', '3'),
  limited('429 with Retry-After twice', '3', '3'),
  limited('429 with blanks around Retry-After', '\t\t3 '),
  refusal('500 with a contract-shaped body', 'UPSTREAM_ERROR', '500 Oops', hidden),
  refusal('502 with HTML', 'UPSTREAM_ERROR', '502 Bad', nginxPage, [html], { attempts: 2 }),
  ...served([['503 once, then a response', busyOnce, { attempts: 2 }]]),
  refusal('503 with Retry-After', 'UPSTREAM_ERROR', '503 Busy', '', ['Retry-After: 60'], {
    retryAfterMs: 60_000,
  }),
  fault('404 with a truncated body', 'NOT_FOUND', reset(cutNotFound), { status: 404 }),
  refusal('401 whose body never arrives', 'UNAUTHENTICATED', '401 Unauthorized', '', [longer]),
  fault('401 with a body of 200 MB', 'UNAUTHENTICATED', flood(unauthorized), { status: 401 }),
  refusal('502 of 200 MB of zeros', 'UPSTREAM_ERROR', '502 Bad', gzipBomb, [inGzip], unknownWrite),
];

const maxId = '[{"id":9223372036854775807,"name":"Rex","categoryId":2}]';
const nested = '['.repeat(100_000) + ']'.repeat(100_000);
const ordersOf = (text: string) => ({ query: listOrders, data: parseJson(text) });
const strangeOrders = '[{"__proto__":{"a":1},"b":12345678901234567890}]';
const withPrototype = pets.replace('{', '{"__proto__":{"status":"lost"},');

const bodies = [
  ...faultsOf('UPSTREAM_INVALID_RESPONSE', [
    ['HTML with 200', ok('<html>/srv/x</html>', html)],
    ['two types, and HTML', ok('<html>', html, 'Content-Type: application/json')],
    ['a type with a comma', ok(pets, 'Content-Type: text/plain; a="b, c"')],
    ['JSON as text/plain', ok(pets, 'Content-Type: text/plain')],
    ['truncated JSON', ok(pets.slice(0, -3))],
    ['an id beyond 64 bits', ok(maxId.replace('807', '808'))],
    [
      'an unknown status',
      ok(pets.replace('sold', 'lost')),
      { data: [{ id: '1', name: 'Rex', status: null }] },
    ],
    [
      '201 with an unknown status to a write',
      encodeResponse('201 Created', pets.slice(1, -1).replace('sold', 'lost')),
      { query: addPet, data: { id: '1', status: null }, outcome: 'DONE' },
    ],
    ['orders nested 100,000 deep', ok(nested), { query: listOrders }],
    ['more pets than fit on a page', ok(`[${Array(101).fill(pets.slice(1, -1))}]`)],
    ['a million values', ok(`[${Array(1_000_000).fill('[]')}]`)],
    ['a long number, and a million values', ok(`[1234567890123456789${',0'.repeat(1_000_000)}]`)],
    ['invalid UTF-8', ok(Buffer.from('[{"id":1,"name":"R\xe9x","categoryId":2}]', 'latin1'))],
    ['a body of 200 MB', flood(`${typed}\r\n[`)],
  ]),
  ...served([
    ['a blank after Content-Length', blankLength(pets)],
    ['blanks around Content-Length', ok(pets, `Content-Length:\t \t${pets.length}  `)],
    ['blanks around Content-Type', ok(pets, 'Content-Type: \t application/json \t')],
    ['a vendor type', ok(pets, 'Content-Type: application/vnd.pets!v1+hal+json; q="a, b"')],
    ['an empty Content-Type', ok(pets, 'Content-Type:')],
    ['a blank Content-Type', ok(pets, 'Content-Type: \t')],
    ['Content-Type twice', ok(pets, 'Content-Type: application/json', html)],
    ['two types in one line', ok(pets, 'Content-Type: text/plain, application/json')],
    ['a type that is none', ok(pets, 'Content-Type: json')],
    ['JSON without a type', `HTTP/1.1 200 OK\r\nContent-Length: ${pets.length}\r\n\r\n${pets}`],
    [
      'the maximum id of 64 bits',
      ok(maxId),
      { data: [{ id: '9223372036854775807', name: 'Rex', status: null }] },
    ],
    ['duplicate keys', ok(pets.replace('{', '{"id":5,'))],
    ['__proto__ in a record', ok(withPrototype)],
    ['__proto__ in orders', ok(strangeOrders), ordersOf(strangeOrders)],
  ]),
];

/** It needs many packets, even if it is compressed. */
const longText = JSON.stringify(randomBytes(300_000).toString('hex'));
const cipher = gzipSync(forbidden);
const cipherLength = `Content-Length: ${cipher.length} `;
const deflated = gzipSync(deflateSync(pets));
const sixTimes = Array(6)
  .fill(gzipSync)
  .reduce((body, gzip) => gzip(body), Buffer.from(pets));
const cutGzip = ok(gzipSync(pets).subarray(0, 20), inGzip, longer);

const codings = [
  ...Object.entries({
    gzip: gzipSync,
    'X-GZIP': gzipSync,
    br: brotliCompressSync,
    deflate: deflateSync,
    'deflate (raw)': deflateRawSync,
  }).flatMap(([name, encode]) => {
    const coding = `Content-Encoding: ${name.split(' ')[0]}`;
    return [
      ...served([[`unsolicited ${name}`, ok(encode(pets), coding)]]),
      refusal(`403 in ${name}`, 'FORBIDDEN', '403 No', encode(forbidden), [coding], { error: no }),
      fault(`5 MB of zeros in ${name}`, 'UPSTREAM_INVALID_RESPONSE', ok(encode(zeros), coding)),
    ];
  }),
  ...served([
    ...['', 'identity', 'gzip,', ',,gzip', 'gzip \t', 'GZIP, identity', 'Identity , gzip'].map(
      (value) => {
        const body = /gzip/i.test(value) ? gzipSync(pets) : pets;
        return [`Content-Encoding: ${value}`, ok(body, `Content-Encoding: ${value}`)] as const;
      },
    ),
    ['gzip twice', ok(gzipSync(gzipSync(pets)), 'Content-Encoding: gzip, gzip')],
    ['gzip, then br', ok(brotliCompressSync(gzipSync(pets)), 'Content-Encoding: gzip,\tbr')],
    ['deflate, then gzip, in two lines', ok(deflated, 'Content-Encoding: deflate', inGzip)],
    ['gzip, with a blank after Content-Length', blankLength(gzipSync(pets), inGzip)],
    ['a large body in gzip', ok(gzipSync(longText), inGzip), ordersOf(longText)],
  ]),
  ...faultsOf('UPSTREAM_INVALID_RESPONSE', [
    ['200 MB of zeros in gzip', ok(gzipBomb, inGzip)],
    ['gzip six times', ok(sixTimes, `Content-Encoding: ${Array(6).fill('gzip')}`)],
    ['gzip, then an unknown coding', ok(gzipSync(pets), 'Content-Encoding: gzip, foo')],
    ['200 MB of zeros in gzip, twice', ok(gzipSync(gzipBomb), 'Content-Encoding: gzip, gzip')],
    ['JSON that claims to be gzip', ok(pets, inGzip)],
    ['truncated gzip', ok(gzipSync(pets).subarray(0, -12), inGzip)],
    ['an empty body that claims to be gzip', ok('', inGzip)],
    ['an unknown content coding', ok(pets, 'Content-Encoding: constructor')],
  ]),
  refusal('403 in gzip and a blank', 'FORBIDDEN', '403 No', cipher, [inGzip, cipherLength], {
    error: no,
  }),
  fault('gzip that is cut off', 'UPSTREAM_UNAVAILABLE', reset(cutGzip)),
];

const timeouts = faultsOf('UPSTREAM_TIMEOUT', [
  ['no response', () => {}],
  ['no response to a write', () => {}, unknownWrite],
  ['headers without a body', ok('', 'Content-Length: 9')],
  ['an endless slow body', drip(ok('1\r\n[\r\n', chunked), '1\r\n \r\n')],
  ['gzip without end', drip(cutGzip, '')],
  ['endless slow headers', drip('HTTP/1.1 200 OK\r\n', 'X: y\r\n')],
]);

/** Every fault. */
export const faults: readonly Fault[] = [
  ...connectionFaults,
  ...httpFaults,
  ...statuses,
  ...bodies,
  ...codings,
  ...timeouts,
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
