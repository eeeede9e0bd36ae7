import { createServer } from 'node:http';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { maxBodyBytes } from '../../src/http/body.ts';
import { createGateway, loadConfig } from '../../src/index.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { apiKey, openBuiltin, startGateway } from '../support/gateway.ts';
import { valuesOf } from '../support/metrics.ts';
import { sendRaw } from '../support/raw-http.ts';
import { recording } from '../support/recording.ts';
import { startServer } from '../support/server.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const { petStore, calls } = recording(await openBuiltin());
const service = disposeAfterAll(await startGateway({ petStore }));
const config = loadConfig({ DATABASE_URL: ':memory:', DEMO: 'on', LOG_LEVEL: 'silent' });
const { nodeListener } = disposeAfterAll(await createGateway(config));
const mounted = disposeAfterAll(await startServer(createServer(nodeListener)));

const withKey = { authorization: `Bearer ${apiKey}` };

/** Sends a body with these codings in its header, to a path of a server. */
async function send(
  body: Bytes,
  coding: string,
  { url, path = '/graphql', headers = withKey as object } = { url: service.url },
) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': coding, ...headers },
    body,
  });
  const accepted = response.headers.get('accept-encoding');
  return { status: response.status, accepted, text: await response.text() };
}

const query = Buffer.from('{"query":"{ __typename }"}');
const pet = Buffer.from('{"name":"Rex","categoryId":9007199254740993}');
const bytes = (body: Uint8Array): Bytes => new Uint8Array(body);

/** A query of a length in bytes, padded with blanks. */
const queryOf = (length: number) => Buffer.from(query.toString().padEnd(length));

const codings: readonly [header: string, encode: (body: Uint8Array) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['GZip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['identity', (body) => body],
  ['', (body) => body],
  ['identity, gzip,', gzipSync],
  ['deflate, br', (body) => brotliCompressSync(deflateSync(body))],
  ['gzip, gzip', (body) => gzipSync(gzipSync(body))],
];

describe('the content coding of a request', () => {
  it.each(codings)('is decoded: %j %#', async (header, encode) => {
    const data = '{"data":{"__typename":"Query"}}';
    for (const server of [service, mounted]) {
      const { status, text } = await send(bytes(encode(query)), header, { url: server.url });
      expect([status, text]).toEqual([200, data]);
    }
    const to = { url: service.url, path: '/v1/pets' };
    const added = await send(bytes(encode(pet)), header, to);
    expect(added.status).toBe(201);
    expect(added.text).toContain('"categoryId":9007199254740993');
  });

  it.each([
    ['foo', query],
    ['zstd', zstdCompressSync(query)],
    ['gzip;q=1', gzipSync(query)],
    ['gzip, foo', gzipSync(query)],
    ['gzip, gzip, gzip, gzip, gzip, gzip', query],
  ])('is refused with 415 if it is %s', async (header, body) => {
    const message = `content-encoding: expected gzip, deflate or br, received ${JSON.stringify(header)}.`;
    const error = { message, extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } };
    for (const server of [service, mounted]) {
      const { status, accepted, text } = await send(bytes(body), header, { url: server.url });
      expect([status, accepted]).toEqual([415, 'gzip, deflate, br']);
      expect(JSON.parse(text)).toMatchObject({ errors: [error] });
    }
    const rest = await send(bytes(body), header, { url: service.url, path: '/v1/pets' });
    expect([rest.status, rest.accepted]).toEqual([415, 'gzip, deflate, br']);
    expect(JSON.parse(rest.text)).toEqual({ code: 'unsupported_media_type', message, status: 415 });
  });

  it.each([
    ['gzip', query],
    ['gzip', gzipSync(query).subarray(0, -1)],
    ['deflate', query],
    ['br', brotliCompressSync(query).subarray(0, -2)],
    ['gzip, br', gzipSync(query)],
  ])('is refused with 400 if the body does not have it: %s %#', async (header, body) => {
    calls.length = 0;
    const message = 'body: expected the encoding of its Content-Encoding, received other bytes.';
    const { status, text } = await send(bytes(body), header);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ errors: [{ message }] });
    const rest = await send(bytes(body), header, { url: service.url, path: '/v1/pets' });
    expect(JSON.parse(rest.text)).toEqual({ code: 'bad_request', message, status: 400 });
    expect(calls).toEqual([]);
  });

  it('does not matter without a body', async () => {
    const headers = { ...withKey, 'content-encoding': 'foo' };
    const path = '/graphql?query={__typename}';
    expect((await fetch(service.url + path, { headers })).status).toBe(200);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['gzip, gzip', (body: Uint8Array) => gzipSync(gzipSync(body))],
  ])('counts what a %s body expands to, and ends at the first byte too much', async (header, encode) => {
    const cases = [
      [maxBodyBytes, withKey, ''],
      [16 * 1024, {}, ' without an API key'],
    ] as const;
    for (const [maximum, headers, condition] of cases) {
      const message = `The request body is too large: expected at most ${maximum} bytes${condition}.`;
      for (const { url } of [service, mounted]) {
        const of = (length: number) =>
          send(bytes(encode(queryOf(length))), header, { url, headers });
        expect((await of(maximum)).status).toBe(200);
        for (const length of [maximum + 1, 4 * 1024 * 1024]) {
          const { status, text } = await of(length);
          expect(status).toBe(413);
          expect(JSON.parse(text)).toMatchObject({ errors: [{ message }] });
        }
      }
    }
    const used = await valuesOf(service.metrics, 'petstore_limit_used', 'limit');
    expect(used).not.toHaveProperty('body_bytes');
  });
});

describe('the transfer coding of a request', () => {
  const post = (path: string, body: Uint8Array, coding: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: ${coding}\r\n\r\n${body.length.toString(16)}\r\n${body.toString()}\r\n0\r\n\r\n`;

  it.each(['foo, chunked', 'gzip, chunked'])('is refused with 501 if it is %s', async (coding) => {
    calls.length = 0;
    for (const { url } of [service, mounted]) {
      const response = await sendRaw(url, post('/graphql', query, coding));
      expect(response).toMatch(/^HTTP\/1.1 501 /);
      expect(response).toContain(`transfer-encoding: expected chunked, received \\"${coding}\\".`);
    }
    expect(await sendRaw(service.url, post('/v1/pets', pet, coding))).toMatch(/^HTTP\/1.1 501 /);
    expect(calls).toEqual([]);
  });

  it('may be chunked in any case', async () => {
    for (const { url } of [service, mounted]) {
      expect(await sendRaw(url, post('/graphql', query, 'Chunked '))).toMatch(/^HTTP\/1.1 200 /);
    }
  });
});
