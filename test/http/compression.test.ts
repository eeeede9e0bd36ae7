import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compressResponse } from '../../src/http/compression.ts';
import type { HttpResponse } from '../../src/http/http-message.ts';

const pets = 'Biscuit, '.repeat(1000);

/** Returns the response and whether its body is what it was, decoded. */
async function compress(body: string, response: Partial<HttpResponse> = {}, accepted = 'gzip') {
  const given = { status: 200, headers: {}, body, ...response };
  const { headers, body: sent } = await compressResponse(given, accepted);
  const coding = headers['content-encoding'];
  const text = typeof sent === 'string' ? sent : String(gunzipSync(sent));
  expect(text === body).toBe(true);
  expect(typeof sent === 'string').toBe(coding === undefined);
  return { coding, vary: headers['vary'] };
}

describe('a compressed response', () => {
  it.each([
    ['x'.repeat(4095), undefined],
    ['x'.repeat(4096), 'gzip'],
    ['ä'.repeat(2047), undefined],
    ['ä'.repeat(2048), 'gzip'],
  ])('has at least 4,096 bytes', async (body, coding) => {
    expect(await compress(body)).toEqual({ coding, vary: coding && 'Accept-Encoding' });
  });

  it('varies, whether the client accepts a coding or not', async () => {
    const headers = { vary: 'Origin' };
    const identity = { coding: undefined, vary: 'Origin, Accept-Encoding' };
    expect(await compress(pets, { headers: { ...headers } }, '')).toEqual(identity);
    const refused = await compress(pets, { headers: { ...headers } }, 'gzip;q=0, br;q=0');
    expect(refused).toEqual(identity);
    const gzip = { coding: 'gzip', vary: 'Origin, Accept-Encoding' };
    expect(await compress(pets, { headers: { ...headers } })).toEqual(gzip);
  });

  it('is one of four large ones at a time; further ones are sent as they are', async () => {
    const large = pets.repeat(8);
    const sent = await Promise.all(Array.from({ length: 64 }, () => compress(large)));
    expect(sent.map(({ coding }) => coding)).toEqual([
      ...Array(4).fill('gzip'),
      ...Array(60).fill(undefined),
    ]);
    expect(await compress(large)).toMatchObject({ coding: 'gzip' });
    const small = await Promise.all(Array.from({ length: 64 }, () => compress(pets)));
    expect(new Set(small.map(({ coding }) => coding))).toEqual(new Set(['gzip']));
  });
});
