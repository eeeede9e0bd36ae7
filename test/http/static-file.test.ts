import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createFetchHandler } from '../../src/http/fetch.ts';
import { createStaticFile } from '../../src/http/static-file.ts';
import { openRequests } from '../../src/request/gateway-request.ts';
import { createEnvironment } from '../../src/request/scope.ts';
import { quiet } from '../support/log.ts';

const css = '.pet { color: green }\n'.repeat(1000);
const style = (read = async () => css) =>
  createStaticFile('text/css', { 'cache-control': 'no-cache' }, read);

describe('a static file', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=1.0, br; q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', undefined],
    ['identity;q=0, gzip;q=0', undefined],
    ['identity, br;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['zstd', undefined],
    ['br;q=high, gzip', 'br'],
  ])('is sent to a client that accepts %j as %s', async (accepted, coding) => {
    const { status, headers, body } = await style()({ 'accept-encoding': accepted });
    expect([status, headers['content-encoding'], headers['vary']]).toEqual([
      200,
      coding,
      'Accept-Encoding',
    ]);
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ''] ?? Buffer.from;
    expect(String(decode(body as Uint8Array<ArrayBuffer>))).toBe(css);
  });

  it('is sent uncompressed if compression does not make it smaller', async () => {
    const { headers, body } = await style(async () => 'a{}')({ 'accept-encoding': 'br' });
    expect([String(body), headers['content-encoding']]).toEqual(['a{}', undefined]);
  });

  it('is read once, or again after a failure; responses share its bytes but not its headers', async () => {
    let reads = 0;
    const file = style(async () => {
      if (reads++ === 0) throw new Error('EMFILE');
      return css;
    });
    await expect(file({ 'accept-encoding': 'gzip' })).rejects.toThrow('EMFILE');
    for (const accepted of ['identity', 'gzip', 'br']) {
      const load = () => file({ 'accept-encoding': accepted });
      const [first, second] = await Promise.all([load(), load()]);
      expect(first.body).toBe(second.body);
      expect(first.headers).not.toBe(second.headers);
    }
    expect(reads).toBe(2);
  });

  it('has an ETag for each coding and each content', async () => {
    const codings = ['identity', 'gzip', 'br'];
    const etagsOf = (file: ReturnType<typeof style>) =>
      Promise.all(
        codings.map(async (coding) => (await file({ 'accept-encoding': coding })).headers),
      );
    const all = [...(await etagsOf(style())), ...(await etagsOf(style(async () => `${css} `)))];
    expect(new Set(all.map(({ etag }) => etag)).size).toBe(6);
    for (const { etag } of all) expect(etag).toMatch(/^"[\w-]+"$/);
    expect((await etagsOf(style())).map(({ etag }) => etag)).toEqual(
      all.slice(0, 3).map(({ etag }) => etag),
    );
  });

  it('gets 304 if the client has it in the same coding', async () => {
    const file = style();
    const { etag = '' } = (await file({ 'accept-encoding': 'br' })).headers;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect(await file({ 'accept-encoding': 'br', 'if-none-match': known })).toEqual({
        status: 304,
        headers: { etag, vary: 'Accept-Encoding', 'cache-control': 'no-cache' },
        body: '',
      });
    }
    for (const other of ['"other"', '', etag.slice(0, -1)]) {
      const { status } = await file({ 'accept-encoding': 'br', 'if-none-match': other });
      expect([other, status]).toEqual([other, 200]);
    }
    expect((await file({ 'if-none-match': etag })).status).toBe(200);
  });

  it('is copied for a Fetch response only as far as the client reads', async () => {
    const content = 'pet'.repeat(2_500_000);
    const file = style(async () => content);
    const requests = openRequests(createEnvironment(quiet));
    const handle = createFetchHandler({ ...requests, handle: ({ head }) => file(head.headers) });
    const responses: Response[] = [];
    await handle(new Request('http://gateway.test/'));
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 50; index++) {
      responses.push(await handle(new Request('http://gateway.test/')));
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    for (const response of responses.slice(0, 2)) {
      expect((await response.text()) === content).toBe(true);
    }
  });
});
