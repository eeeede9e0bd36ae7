import fc from 'fast-check';

/** A valid request, possibly unusual, and one encoding of it. */
export interface PlannedRequest {
  readonly method: string;
  readonly target: string;
  /** By lower-case name; the values of a repeated header are joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** One byte per character. */
  readonly body: string;
  readonly bytes: string;
}

/** The requests sent over one connection. */
export interface PlannedConnection {
  readonly requests: readonly PlannedRequest[];
  /** Malformed input after the requests; empty if the last request has `Connection: close`. */
  readonly malformed: string;
  /** All bytes, in the parts in which they are written. */
  readonly parts: readonly string[];
}

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');
const close = 'Connection: close\r\n';

const token = fc.stringMatching(/^[abcxyz019\-_.!~]{1,12}$/);
const value = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[!-~]{0,40}$/) },
  { weight: 2, arbitrary: fc.stringMatching(/^[a\x80-\xff]{0,20}$/) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1000, max: 3000 }).map((length) => 'v'.repeat(length)),
  },
);

const known = {
  accept: ['*/*', 'application/json', 'application/graphql-response+json', 'text/html', 'a/b;q=0'],
  'accept-encoding': ['gzip', 'br;q=0.5, gzip', 'identity', '*'],
  authorization: ['Bearer demo-key', 'Bearer wrong', 'Bearer', 'Basic YTpi', 'bearer demo-key'],
  'content-type': ['application/json', 'application/json; charset=utf-8', 'text/plain', ''],
  cookie: ['a=b', 'c=d; e=f'],
  expect: ['100-continue', 'the unexpected'],
  host: ['localhost', 'a, b', '[bad', 'example.com:80'],
  origin: ['https://shop.example', 'null'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'bad'],
  'x-forwarded-for': ['1.2.3.4'],
};
const knownHeader = fc.oneof(
  ...Object.entries(known).map(([name, values]) =>
    fc.tuple(fc.constant(name), fc.constantFrom(...values)),
  ),
);
const otherHeader = fc.tuple(
  token.map((name) => `x-${name}`).filter((name) => name !== 'x-request-id'),
  value,
);

/** Encodes a header with arbitrary case of the name and white space around the value. */
const line = ([name, text]: readonly [string, string]) =>
  fc
    .tuple(
      fc.mixedCase(fc.constant(name)),
      fc.constantFrom('', ' ', '\t', '   '),
      fc.constantFrom('', ' ', ' \t'),
    )
    .map(([odd, before, after]) => ({ name, text, line: `${odd}:${before}${text}${after}\r\n` }));

const query = fc.oneof(
  fc.constantFrom(
    '{ __typename }',
    '{ pets(limit: 2) { id name } }',
    '{ pet(id: "9223372036854775807") { id } }',
    '{ nope }',
    '{',
    'mutation { addPet }',
  ),
  fc.string({ maxLength: 30 }),
);
const body = fc
  .oneof(
    { weight: 6, arbitrary: query.map((text) => JSON.stringify({ query: text })) },
    { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.constant('') },
    {
      weight: 2,
      arbitrary: fc
        .uint8Array({ maxLength: 200 })
        .map((bytes) => Buffer.from(bytes).toString('latin1')),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 5000, max: 30_000 })
        .map((length) => `${' '.repeat(length)}{"query":"{ __typename }"}`),
    },
  )
  .map((text) => (/[^\0-\xff]/.test(text) ? bytesOf(text) : text));

const target = fc.oneof(
  { weight: 5, arbitrary: fc.constant('/graphql') },
  {
    weight: 3,
    arbitrary: query.map((text) => `/graphql?query=${encodeURIComponent(text.toWellFormed())}`),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '/',
      '/livez',
      '/nowhere',
      '/v1/pets?limit=2',
      '/v1/pets/1',
      '/v1/pets?limit=0',
      '/v1/store/orders',
      '/%zz',
      '//',
      'http://example.com/livez?a=b',
    ),
  },
);

/** Encodes a body in chunks, with leading zeros, extensions and trailers. */
const chunked = (text: string) =>
  fc
    .record({
      size: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 100, max: 5000 })),
      zeros: fc.constantFrom('', '0', '000'),
      extension: fc.constantFrom('', ';a', ';a=b', ';a="b c"'),
      trailer: fc.constantFrom('', 'X-Trailer: a\r\n', 'Host: other\r\n'),
    })
    .map(({ size, zeros, extension, trailer }) => {
      // Stays below the maximum number of chunks.
      const most = Math.max(size, Math.ceil(text.length / 2000));
      let bytes = '';
      for (let start = 0; start < text.length; start += most) {
        const chunk = text.slice(start, start + most);
        bytes += `${zeros}${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`;
      }
      return { framing: 'Transfer-Encoding: chunked\r\n', bytes: `${bytes}0\r\n${trailer}\r\n` };
    });

const whole = (text: string) => ({
  framing: `Content-Length: ${text.length}\r\n`,
  bytes: text,
});

const methods = [
  ...Array(2).fill('GET'),
  ...Array(3).fill('POST'),
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
];

/** Generates requests that change no data, so that equal requests have equal responses. */
const request = (isLast: boolean): fc.Arbitrary<PlannedRequest> =>
  fc
    .record({
      method: fc.constantFrom(...methods),
      target,
      text: body,
      headers: fc.array(fc.oneof(knownHeader, otherHeader), { maxLength: 8 }),
      id: fc.stringMatching(/^[a-z0-9-]{8,36}$/),
      hasBody: fc.boolean(),
    })
    .chain(({ method, target, text, headers, id, hasBody }) => {
      const sendsBody = hasBody || method === 'POST';
      const sent = sendsBody ? text : '';
      const all = [['host', 'localhost'], ['x-request-id', id], ...headers] as [string, string][];
      return fc
        .tuple(
          fc.tuple(...all.map(line)),
          sendsBody
            ? fc.oneof(fc.constant(whole(sent)), chunked(sent))
            : fc.constant({ framing: '', bytes: '' }),
        )
        .map(([lines, { framing, bytes }]) => {
          const joined: Record<string, string> = {};
          for (const { name, text } of lines) {
            const before = joined[name];
            joined[name] =
              before === undefined ? text : `${before}${name === 'cookie' ? '; ' : ', '}${text}`;
          }
          const head = `${method} ${target} HTTP/1.1\r\n${lines.map((one) => one.line).join('')}`;
          return {
            method,
            target,
            headers: joined,
            body: sent,
            bytes: `${head}${framing}${isLast ? close : ''}\r\n${bytes}`,
          };
        });
    });

const get = 'GET / HTTP/1.1\r\nHost: a\r\n';
const post = 'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const chunks = `${post}Transfer-Encoding: chunked\r\n\r\n`;

/** Input that a server must refuse, each for one reason (RFC 9112). */
const malformed = fc.oneof(
  fc.constantFrom(
    `${get}X-A: folded\r\n line\r\n\r\n`,
    'GET / HTTP/1.1\nHost: a\n\n',
    `${get}X-A: b\rX-B: c\r\n\r\n`,
    `${get}X A: b\r\n\r\n`,
    `${get}no colon\r\n\r\n`,
    `${get}X-A : b\r\n\r\n`,
    `${get}: b\r\n\r\n`,
    'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'get / HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n',
    'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    `${post}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    `${post}Transfer-Encoding: gzip\r\n\r\n`,
    `${post}Transfer-Encoding: chunked, gzip\r\n\r\n`,
    `${chunks}1\r\nab\r\n0\r\n\r\n`,
    `${chunks}\r\n`,
    `${chunks}1\na\n0\n\n`,
    `${chunks}0\r\nno colon\r\n\r\n`,
    `${get}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    `${chunks}1;${'x'.repeat(20_000)}\r\n`,
    `${chunks}${'1\r\n \r\n'.repeat(4097)}`,
  ),
  fc
    .constantFrom('x', '-1', '+1', '1, 1', '0x1', '9'.repeat(25))
    .map((length) => `${post}Content-Length: ${length}\r\n\r\n`),
  fc.constantFrom('z', '-1', '0x1', ' 1', 'f'.repeat(20)).map((size) => `${chunks}${size}\r\n`),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all but TAB, LF and CR
  fc.stringMatching(/^[\0-\x08\v\f\x0e-\x1f\x7f]$/).map((text) => `${get}X-A: ${text}\r\n\r\n`),
  // The first byte can't be part of a method.
  fc
    .uint8Array({ minLength: 1, maxLength: 300 })
    .map((bytes) => `\x16${Buffer.from(bytes).toString('latin1')}`),
);

/** Generates connections of up to six requests, the last of which may be malformed. */
export const connections: fc.Arbitrary<PlannedConnection> = fc
  .record({
    first: fc.array(request(false), { maxLength: 5 }),
    last: fc.oneof({ weight: 2, arbitrary: request(true) }, { weight: 1, arbitrary: malformed }),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
  })
  .map(({ first, last, cuts }) => {
    const isMalformed = typeof last === 'string';
    const requests = isMalformed ? first : [...first, last];
    const end = isMalformed ? last : '';
    const bytes = requests.map((one) => one.bytes).join('') + end;
    const offsets = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length];
    offsets.sort((a, b) => a - b);
    const parts = offsets.slice(1).map((offset, index) => bytes.slice(offsets[index], offset));
    return { requests, malformed: end, parts: parts.filter((part) => part !== '') };
  });
