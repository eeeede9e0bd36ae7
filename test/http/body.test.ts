import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { maxBodyBytes, type RequestBody } from '../../src/http/body.ts';
import { GatewayRequest } from '../../src/request/gateway-request.ts';
import { createEnvironment } from '../../src/request/scope.ts';
import { quiet } from '../support/log.ts';

const environment = createEnvironment(quiet);
const { keys, bodyBytes } = environment;
const requests = new Map<RequestBody, GatewayRequest>();

/** Reads the body of a request with an API key, or without one. */
function read(chunks: Iterable<Uint8Array>, key = 'one'): RequestBody {
  const headers = { authorization: key };
  const request = new GatewayRequest(environment, { method: 'POST', path: '/', headers });
  requests.set(request.body, request);
  for (const chunk of chunks) request.body.push(chunk);
  return request.body;
}

const release = (reader: RequestBody) => requests.get(reader)?.scope.end();

afterEach(() => {
  for (const reader of requests.keys()) release(reader);
  requests.clear();
});

const statusOf = ({ error }: RequestBody) => error?.status ?? 200;

describe('RequestBody', () => {
  it.each([
    [4096, 1],
    [4097, 2],
    [maxBodyBytes, 64],
    [maxBodyBytes, 1000],
    [maxBodyBytes, 100_000],
  ])('joins %i bytes in chunks of %i', (length, size) => {
    const bytes = Buffer.alloc(length, 'abcdefghijklmnopqrstuvwxyz');
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const reader = read(chunks);
    expect(Buffer.compare(reader.read(), bytes)).toBe(0);
  });

  it('returns an empty body without chunks, and ignores empty chunks', () => {
    expect(read([]).read()).toHaveLength(0);
    const reader = read([new Uint8Array(0), Buffer.from('a'), new Uint8Array(0), Buffer.from('b')]);
    expect(Buffer.from(reader.read()).toString()).toBe('ab');
  });

  it('does not write into the chunks that it receives', () => {
    const slab = Buffer.from('abXX');
    const reader = read([slab.subarray(0, 2), Buffer.from('cd')]);
    expect(Buffer.from(reader.read()).toString()).toBe('abcd');
    expect(slab.toString()).toBe('abXX');
  });

  it('refuses a body above the limit with 413', () => {
    expect(statusOf(read([Buffer.alloc(maxBodyBytes), Buffer.alloc(1)]))).toBe(413);
    expect(statusOf(read([Buffer.alloc(maxBodyBytes + 1)]))).toBe(413);
  });

  it('refuses too many chunks with 413, and reads no more of tiny ones', () => {
    for (const [size, isReadOn] of [
      [1, false],
      [64, true],
    ] as const) {
      const reader = read([]);
      const push = () => reader.push(Buffer.alloc(size));
      for (let chunks = 0; chunks < 4096; chunks++) expect(push()).toBe(true);
      expect(push()).toBe(isReadOn);
      expect(reader.error).toMatchObject({ status: 413 });
    }
    expect(read(Array(5000).fill(Buffer.from('x'))).error).toMatchObject({
      message: expect.stringContaining('in too many chunks: expected at most 4096'),
    });
  });

  it('keeps no object per chunk', () => {
    const before = process.memoryUsage();
    const readers = Array.from({ length: 100 }, () =>
      read(
        (function* () {
          for (let index = 0; index < maxBodyBytes; index += 64) yield Buffer.alloc(64);
        })(),
      ),
    );
    const after = process.memoryUsage();
    const held = after.arrayBuffers - before.arrayBuffers;
    expect(held).toBeLessThan(readers.length * maxBodyBytes * 4);
  });
});

describe('large request bodies', () => {
  it('are refused with 413 without a key', () => {
    const keyless = (bytes: number) => read([Buffer.alloc(bytes)], '');
    expect(statusOf(keyless(16 * 1024))).toBe(200);
    expect(statusOf(keyless(16 * 1024 + 1))).toBe(413);
  });

  it('of one key are refused with 429 while they hold a quarter, and those of others are not', () => {
    const held = Array.from({ length: 150 }, () => read([Buffer.alloc(maxBodyBytes)]));
    const statuses = held.map(statusOf);
    expect(statuses.filter((status) => status === 200)).toHaveLength(34);
    expect(statuses.filter((status) => status === 429)).toHaveLength(116);
    const other = read([Buffer.alloc(maxBodyBytes)], 'other');
    expect(statusOf(other)).toBe(200);
  });

  it('are counted by what they expand to, until their requests end', () => {
    const compressed = gzipSync(Buffer.alloc(maxBodyBytes));
    const held = Array.from({ length: 150 }, () => {
      const reader = read([compressed]);
      reader.decode('gzip');
      return reader;
    });
    expect(held.filter((reader) => statusOf(reader) === 200)).toHaveLength(34);
    expect(bodyBytes.used).toBe(34 * (maxBodyBytes - 16 * 1024));
    for (const reader of held) release(reader);
    const shrunk = read([Buffer.concat([gzipSync('{}'), gzipSync(Buffer.alloc(0))])]);
    shrunk.decode('gzip');
    expect([shrunk.size, bodyBytes.used]).toEqual([2, 0]);
  });

  it('of keys never accepted are refused with 503 while these use half; small and accepted ones are not', () => {
    const readOf = (name: string) =>
      Array.from({ length: 150 }, (_, index) =>
        read([Buffer.alloc(maxBodyBytes)], `${name}-${index % 15}`),
      );
    const readable = (readers: RequestBody[]) =>
      readers.filter((reader) => statusOf(reader) === 200).length;
    const unknown = readOf('unknown');
    expect([readable(unknown), statusOf(unknown.at(-1) as RequestBody)]).toEqual([68, 503]);
    expect(statusOf(read([Buffer.alloc(16 * 1024)]))).toBe(200);
    for (let index = 0; index < 15; index++) keys.accept(keys.find(`accepted-${index}`));
    const accepted = readOf('accepted');
    expect([readable(accepted), statusOf(accepted.at(-1) as RequestBody)]).toEqual([68, 503]);
    for (const reader of [...unknown, ...accepted]) release(reader);
    const next = read([Buffer.alloc(maxBodyBytes)]);
    expect(statusOf(next)).toBe(200);
  });
});
