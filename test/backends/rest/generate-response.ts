import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { pet as petRecord } from '../../../src/petstore/records.ts';
import { anyCharacter } from '../../support/fuzzed.ts';

/** The bytes of a REST response, with what a test knows about them. */
export interface GeneratedResponse {
  readonly operation: Operation;
  readonly status: number;
  /** The bytes, in the pieces in which they are written. */
  readonly pieces: readonly Buffer[];
  /** The body after decoding, if it arrives completely. */
  readonly body: Buffer;
  readonly ending: Ending;
  /** Whether the response is undamaged, so that the outcome is known. */
  readonly isIntact: boolean;
  /** Whether the status line and the headers are undamaged. */
  readonly hasIntactHead: boolean;
}

/** The operations for which responses are generated. */
export type Operation = 'pets' | 'orders' | 'addPet' | 'sendMessage';

/** What happens to the connection after the last piece. */
type Ending = 'stays open' | 'ends' | 'is reset' | 'hangs';

/** Text in the bodies of server errors, which clients must not see. */
export const hiddenText = 'a-stack-trace-of-the-service';

const int64 = fc.oneof(
  fc.constantFrom(
    ...['9223372036854775807', '-9223372036854775808', '9007199254740991', '9007199254740992'],
    ...['9007199254740993', '-9007199254740993', '1000000000000000000', '0', '-1', '1e18'],
    ...['-9007199254740.993E+3', '9223372036854775807.00', '1.000000000000000'],
    '70000000000000000000e-19',
  ),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
);

/** JSON that is not an int64. */
const notInt64 = fc.constantFrom(
  ...['9223372036854775808', '-9223372036854775809', '1.5', '9007199254740993.5'],
  ...['1.00000000000000001', '1e-18', '1e19', '1e400', '"1"', 'null', '[1]', '01'],
  '1234567890123456789012345678901234567890'.repeat(2),
);

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom('Rex', '', '"', '\\', '12345678901234567890', '[{', '__proto__', '😀', '\u2028'),
  fc.constantFrom(100, 5000, 70_000).map((length) => 'é'.repeat(length)),
);
const jsonText = text.map((value) => JSON.stringify(value));
const escapedText = text.map(
  (value) =>
    `"${Array.from({ length: value.length }, (_, index) => `\\u${value.charCodeAt(index).toString(16).padStart(4, '0')}`).join('')}"`,
);
const string = fc.oneof({ weight: 4, arbitrary: jsonText }, { weight: 1, arbitrary: escapedText });
const space = fc.constantFrom('', '', '', ' ', '\n\t');

function object(members: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<string> {
  const pairs = Object.entries(members).map(([name, value]) =>
    fc.tuple(space, value).map(([gap, one]) => `"${name}":${gap}${one}`),
  );
  return fc.tuple(...pairs).map((all) => `{${all.join(',')}}`);
}

const valid = {
  int64,
  text: string,
  enumeration: fc.constantFrom('"available"', '"pending"', '"sold"'),
};
const validPet = object(
  Object.fromEntries(
    Object.values(petRecord.fields).map(({ name, kind, isRequired }) => [
      name,
      isRequired ? valid[kind.name] : fc.oneof(valid[kind.name], fc.constant('null')),
    ]),
  ),
);
const petWithMore = object({ id: int64, more: string, name: string, categoryId: int64 });
const invalidPet = fc.oneof(
  object({ id: notInt64, name: string, categoryId: int64 }),
  object({ id: int64, name: fc.constantFrom('1', 'null', '{}'), categoryId: int64 }),
  object({ id: int64, name: string, categoryId: int64, status: fc.constant('"lost"') }),
  fc.constantFrom('null', '[]', '7', '{}', '{"__proto__":{"id":1,"name":"Rex","categoryId":1}}'),
);
const mostly = (valid: fc.Arbitrary<string>, invalid: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 8, arbitrary: valid }, { weight: 1, arbitrary: invalid });
const pet = mostly(fc.oneof(validPet, petWithMore), invalidPet);

const few = { maxLength: 4 };
const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    int64,
    string,
    fc.constantFrom('null', 'true', 'false', '12.5', '0.12345678901234567890', '1e400', '1E3'),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('"id"', '"a"', '""', '"total"'), tie('value')), few)
      .map((members) => `{${members.map((member) => member.join(': ')).join(' ,')}}`),
  ),
})).value;

const createdAt = fc.constantFrom('"2026-11-21T00:00:00Z"', '"2026-11-21T23:59:60.5+01:00"');
const message = object({ id: string, message: string, status: string, createdAt });
const invalidMessage = object({ id: int64, message: string, status: string, createdAt: string });

const bodies: Readonly<Record<Operation, fc.Arbitrary<string>>> = {
  pets: fc.oneof(
    { weight: 9, arbitrary: fc.array(pet, { maxLength: 8 }).map((pets) => `[${pets.join(',')}]`) },
    { weight: 1, arbitrary: fc.constantFrom('{}', 'null', '', `[${'[],'.repeat(300_000)}[]]`) },
  ),
  orders: mostly(json, fc.constantFrom('['.repeat(600) + ']'.repeat(600), '[', '')),
  addPet: pet,
  sendMessage: mostly(message, invalidMessage),
};

const problem = fc.constantFrom(
  `{"code":"refused","message":"${hiddenText}","status":400}`,
  `{"title":"Refused","detail":"${hiddenText}"}`,
  `<html>${hiddenText}</html>`,
  '',
);

const statusLine = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(200, 201) },
  fc.constantFrom(202, 299, 301, 302, 307, 400, 401, 403, 404, 409, 418, 422, 429, 500, 502, 503),
);

const [gzip, br, deflate, Deflate] = [gzipSync, brotliCompressSync, deflateSync, deflateRawSync];
const encoders = { gzip, br, deflate, Deflate };

/** The framing, the content coding and the headers. */
const packing = fc.record({
  coding: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    fc.constantFrom('gzip' as const, 'br' as const, 'deflate' as const, 'Deflate' as const),
  ),
  framing: fc.constantFrom<'length' | 'chunks' | 'end'>('length', 'length', 'chunks', 'end'),
  interim: fc.constantFrom('', '', '', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
  type: fc.constantFrom(
    ...['application/json', 'application/json; charset=utf-8', 'application/problem+json'],
    undefined,
  ),
  headers: fc.constantFrom('', 'Retry-After: 1\r\n', 'Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n'),
  chunkSize: fc.constantFrom(1, 2, 7, 100, 65_536),
  extension: fc.constantFrom('', ';a=b'),
  trailer: fc.constantFrom('', 'X-Trailer: 1\r\n'),
});

/** Damage to the response; usually none. */
const damage = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'none' as const }) },
  fc.record({ kind: fc.constantFrom('cut', 'cut', 'cut', 'hang'), at: fc.nat() }),
  fc.record({
    ...{ kind: fc.constantFrom('body byte', 'head byte'), at: fc.nat(), byte: fc.nat(255) },
  }),
  fc.record({ kind: fc.constantFrom('html', 'utf-16', 'longer', 'shorter') }),
);

const cutting = fc.array(fc.nat(), { maxLength: 5 });

/** Generates a response for an operation, which can be damaged. */
export const generatedResponse: fc.Arbitrary<GeneratedResponse> = fc
  .constantFrom<Operation>('pets', 'pets', 'orders', 'addPet', 'sendMessage')
  .chain((operation) =>
    fc
      .tuple(statusLine, bodies[operation], problem, packing, damage, cutting)
      .map(([code, body, errorBody, packed, damaged, cuts]) =>
        pack(operation, code, code < 300 ? body : errorBody, packed, damaged, cuts),
      ),
  );

type Packing = typeof packing extends fc.Arbitrary<infer P> ? P : never;
type Damage = typeof damage extends fc.Arbitrary<infer D> ? D : never;

function pack(
  operation: Operation,
  code: number,
  content: string,
  { coding, framing, interim, type, headers, chunkSize, extension, trailer }: Packing,
  damaged: Damage,
  cuts: readonly number[],
): GeneratedResponse {
  let body: Buffer = Buffer.from(content);
  let mediaType: string | undefined = type;
  if (damaged.kind === 'body byte' && body.length > 0)
    body[damaged.at % body.length] = damaged.byte;
  if (damaged.kind === 'utf-16') body = Buffer.from(content, 'utf16le');
  if (damaged.kind === 'html') mediaType = 'text/html';
  const sent = coding ? encoders[coding](body) : body;
  const encoding = coding ? `Content-Encoding: ${coding}\r\n` : '';
  const sizes = { longer: sent.length + 5, shorter: Math.max(0, sent.length - 5) };
  const length = damaged.kind in sizes ? sizes[damaged.kind as keyof typeof sizes] : sent.length;
  const frame = {
    length: `Content-Length: ${length}\r\n`,
    chunks: 'Transfer-Encoding: chunked\r\n',
    end: 'Connection: close\r\n',
  }[framing];
  const head = `${interim}HTTP/1.1 ${code} Reason\r\n${mediaType === undefined ? '' : `Content-Type: ${mediaType}\r\n`}${headers}${encoding}${frame}\r\n`;
  const packedBody =
    framing === 'chunks'
      ? inChunks(sent, Math.max(chunkSize, sent.length >> 8), extension, trailer)
      : sent;
  let bytes = Buffer.concat([Buffer.from(head), packedBody]);
  if (damaged.kind === 'head byte') bytes[damaged.at % head.length] = damaged.byte;
  const isCut = damaged.kind === 'cut' || damaged.kind === 'hang';
  if (isCut) bytes = bytes.subarray(0, damaged.at % bytes.length);
  if (isCut && framing === 'end' && !coding) body = bytes.subarray(head.length);
  const isWrongLength = damaged.kind in sizes && framing === 'length';
  const isIntact = damaged.kind === 'none' || (damaged.kind in sizes && !isWrongLength);
  return {
    operation,
    status: code,
    pieces: inPieces(bytes, cuts),
    body: damaged.kind === 'shorter' && isWrongLength && !coding ? body.subarray(0, length) : body,
    ending: endingOf(damaged.kind, framing, isIntact),
    isIntact,
    hasIntactHead: damaged.kind !== 'head byte' && !isCut,
  };
}

function endingOf(kind: Damage['kind'], framing: Packing['framing'], isIntact: boolean): Ending {
  if (kind === 'hang') return 'hangs';
  if (kind === 'cut' && framing === 'length') return 'is reset';
  return isIntact && framing !== 'end' ? 'stays open' : 'ends';
}

function inChunks(body: Buffer, size: number, extension: string, trailer: string): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < body.length; start += size) {
    const chunk = body.subarray(start, start + size);
    const head = Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`);
    parts.push(head, chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)]);
}

function inPieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const inside = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  const at = [0, ...inside, bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}
