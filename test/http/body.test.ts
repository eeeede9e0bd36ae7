import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BodyReader, bodyRefused, maxBodyBytes } from '../../src/http/body.ts';
import { HttpError } from '../../src/http/error.ts';
import { createByteLimits } from '../../src/server/byte-limits.ts';
import { quiet } from '../support/log.ts';

const { bodyBytes } = createByteLimits(quiet.metrics);

function read(chunks: Iterable<Uint8Array>, key = 1): BodyReader {
  const reader = new BodyReader(key, bodyBytes);
  for (const chunk of chunks) reader.push(chunk);
  return reader;
}

const statusOf = (reader: BodyReader) => {
  const body = reader.end();
  return body instanceof HttpError ? body.status : 200;
};

describe('BodyReader', () => {
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
    expect(Buffer.compare(reader.end() as Uint8Array, bytes)).toBe(0);
    reader[Symbol.dispose]();
  });

  it('leaves the rest of a stream once, however often the server refuses it', async () => {
    const stream = new PassThrough();
    const reader = new BodyReader(1, bodyBytes);
    let times = 0;
    const body = reader.read(stream, () => times++);
    const refusal = new HttpError(429, 'RATE_LIMITED', 'Too much.');
    for (let count = 0; count < 3; count++) stream.emit(bodyRefused, refusal);
    expect(await body).toBe(refusal);
    expect(times).toBe(1);
  });

  it('returns an empty body without chunks, and ignores empty chunks', () => {
    expect(new BodyReader(0, bodyBytes).end()).toHaveLength(0);
    const reader = read([new Uint8Array(0), Buffer.from('a'), new Uint8Array(0), Buffer.from('b')]);
    expect(Buffer.from(reader.end() as Uint8Array).toString()).toBe('ab');
  });

  it('does not write into the chunks that it receives', () => {
    const slab = Buffer.from('abXX');
    const reader = read([slab.subarray(0, 2), Buffer.from('cd')]);
    expect(Buffer.from(reader.end() as Uint8Array).toString()).toBe('abcd');
    expect(slab.toString()).toBe('abXX');
  });

  it('refuses a body above the limit with 413', () => {
    expect(statusOf(read([Buffer.alloc(maxBodyBytes), Buffer.alloc(1)]))).toBe(413);
    expect(statusOf(read([Buffer.alloc(maxBodyBytes + 1)]))).toBe(413);
  });

  it('refuses too many chunks with 413, and reads no more of them', () => {
    const reader = new BodyReader(1, bodyBytes);
    for (let chunks = 0; chunks < 4096; chunks++) expect(reader.push(Buffer.from('x'))).toBe(true);
    expect(reader.push(Buffer.from('x'))).toBe(false);
    expect(reader.end()).toMatchObject({
      status: 413,
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
    for (const reader of readers) reader[Symbol.dispose]();
  });
});

describe('large request bodies', () => {
  it('are refused with 413 without a key', () => {
    const keyless = (bytes: number) => {
      const reader = new BodyReader(0, bodyBytes);
      reader.push(Buffer.alloc(bytes));
      return reader;
    };
    expect(statusOf(keyless(16 * 1024))).toBe(200);
    expect(statusOf(keyless(16 * 1024 + 1))).toBe(413);
  });

  it('of one key are refused with 429 while they hold a quarter, and those of others are not', () => {
    const held = Array.from({ length: 150 }, () => read([Buffer.alloc(maxBodyBytes)]));
    const statuses = held.map(statusOf);
    expect(statuses.filter((status) => status === 200)).toHaveLength(34);
    expect(statuses.filter((status) => status === 429)).toHaveLength(116);
    const other = read([Buffer.alloc(maxBodyBytes)], 2);
    expect(statusOf(other)).toBe(200);
    for (const reader of [...held, other]) reader[Symbol.dispose]();
  });

  it('are refused with 503 while others use the shared limit; small ones are accepted', () => {
    const held = Array.from({ length: 150 }, (_, index) =>
      read([Buffer.alloc(maxBodyBytes)], index + 1),
    );
    const refused = held.filter((reader) => statusOf(reader) === 503).length;
    expect(refused).toBeGreaterThan(10);
    expect(statusOf(read([Buffer.alloc(16 * 1024)]))).toBe(200);
    for (const reader of held) reader[Symbol.dispose]();
    const next = read([Buffer.alloc(maxBodyBytes)]);
    expect(statusOf(next)).toBe(200);
    next[Symbol.dispose]();
  });
});
