import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { refusalsIn } from '../support/metrics.ts';
import { holdingOrders } from '../support/parts.ts';

const KiB = 1024;
const json = { 'content-type': 'application/json' };
const withKey = (key: string) => ({ ...json, authorization: `Bearer ${key}` });

type Headers = Readonly<Record<string, string>>;

/** Creates a POST whose body arrives in these chunks. */
function postOf(chunks: Iterable<Uint8Array>, headers: Headers, path = '/graphql'): Request {
  const body = Readable.toWeb(Readable.from(chunks));
  const init = { method: 'POST', headers, body, duplex: 'half' };
  return new Request(`http://gateway.test${path}`, init as RequestInit);
}

/** The bytes of an operation, padded to this length. */
const ordersOf = (length: number) => Buffer.from('{"query":"{ orders }"}'.padEnd(length));

function* chunksOf(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) {
    yield new Uint8Array(0);
    yield bytes.subarray(start, start + size);
  }
}

describe('a request body', () => {
  it.each([
    [5000, 3],
    [256 * KiB, 128],
    [256 * KiB, 1000],
    [256 * KiB, 100_000],
  ])('of %i bytes arrives unchanged in chunks of %i', async (length, size) => {
    await using opened = await openGateway({
      persistedDocuments: { mode: 'allow', manifest: new Map() },
    });
    const bodyOf = (query: string) => {
      const sha256Hash = createHash('sha256').update(query).digest('hex');
      const extensions = { persistedQuery: { version: 1, sha256Hash } };
      return JSON.stringify({ query, extensions });
    };
    const text = '{ __typename } #';
    const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(10_240);
    const bytes = Buffer.from(bodyOf(text + letters.slice(0, length - bodyOf(text).length)));
    expect(bytes).toHaveLength(length);
    const response = await opened.gateway(postOf(chunksOf(bytes, size), withKey('demo-key')));
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });

  it.each([
    ['with a key', withKey('demo-key'), 256 * KiB],
    ['without a key', json, 16 * KiB],
  ])('%s is refused with 413 beyond its limit', async (_, headers, limit) => {
    await using opened = await openGateway();
    const statusOf = async (length: number) =>
      (await opened.gateway(postOf([ordersOf(length)], headers))).status;
    expect([await statusOf(limit), await statusOf(limit + 1)]).toEqual([200, 413]);
  });

  it('is refused with 413 in too many chunks, and no more of them are read', async () => {
    await using opened = await openGateway();
    let read = 0;
    function* endless() {
      for (;;) {
        read++;
        yield Buffer.from(' ');
      }
    }
    const response = await opened.gateway(postOf(endless(), withKey('demo-key')));
    expect(response.status).toBe(413);
    expect(await response.text()).toContain('in too many chunks: expected at most 4096');
    expect(read).toBeLessThan(4200);
  });
});

describe('large request bodies', () => {
  it('are limited per key and in total until their responses; each refusal is counted once', async () => {
    const { petStore, ...orders } = holdingOrders(await openBuiltin());
    await using opened = await openGateway({ petStore });
    const send = (key: string, length = 256 * KiB, path = '/graphql', type = {}) =>
      opened.gateway(postOf([ordersOf(length)], { ...withKey(key), ...type }, path));
    const held: Promise<Response>[] = [];
    const hold = async (key: string) => {
      // A quarter of 32 MiB; the first 16 KiB of each do not count.
      for (let count = 0; count < 34; count++) held.push(send(key));
      await orders.called(held.length);
    };
    await hold('a');
    for (const path of ['/graphql', '/v1/pets', '/quickstart/messages']) {
      const refused = await send('a', 256 * KiB, path);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await refused.text()).toContain('bodies');
    }
    for (const key of ['b', 'c', 'd']) await hold(key);
    expect((await send('e')).status).toBe(503);
    held.push(send('e', 16 * KiB));
    await orders.called(held.length);

    const counts = { 'body_bytes_of_key 429': 3, 'body_bytes 503': 1 };
    expect(await refusalsIn(opened.metrics)).toEqual(counts);
    orders.release();
    for (const response of await Promise.all(held)) expect(response.status).toBe(200);
    expect((await send('a')).status).toBe(200);

    // Responses with another reason are not refusals due to load.
    expect((await send('a', 30, '/nowhere')).status).toBe(404);
    expect((await send('a', 30, '/graphql', { 'content-type': 'text/plain' })).status).toBe(415);
    for (const path of ['/graphql', '/v1/pets']) {
      expect((await send('a', 256 * KiB + 1, path)).status).toBe(413);
      expect((await opened.gateway(postOf([Buffer.from('{')], withKey('a'), path))).status).toBe(
        400,
      );
    }
    expect(await refusalsIn(opened.metrics)).toEqual(counts);
  });
});
