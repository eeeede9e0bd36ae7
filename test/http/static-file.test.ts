import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createStaticFile } from '../../src/http/static-file.ts';
import { createByteLimits } from '../../src/server/byte-limits.ts';
import { createFetchHandler } from '../../src/server/http/fetch.ts';
import { quiet } from '../support/log.ts';
import { nodeStart } from '../support/process.ts';
import { connectTo, rawGet } from '../support/raw-http.ts';

const css = '.pet { color: green }\n'.repeat(1000);
const style = (read = async (): Promise<Uint8Array<ArrayBuffer> | string> => css) =>
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

  it('is read once; responses share its bytes but not its headers', async () => {
    let reads = 0;
    const file = style(async () => {
      reads++;
      return css;
    });
    for (const accepted of ['identity', 'gzip', 'br']) {
      const load = () => file({ 'accept-encoding': accepted });
      const [first, second] = await Promise.all([load(), load()]);
      expect(first.body).toBe(second.body);
      expect(first.headers).not.toBe(second.headers);
      expect(first.headers).toEqual(second.headers);
    }
    expect(reads).toBe(1);
  });

  it('is read again after a failure', async () => {
    let reads = 0;
    const file = style(async () => {
      if (reads++ === 0) throw new Error('EMFILE');
      return css;
    });
    await expect(file({ 'accept-encoding': 'gzip' })).rejects.toThrow('EMFILE');
    expect((await file({ 'accept-encoding': 'gzip' })).status).toBe(200);
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
    const content = Buffer.alloc(8_000_000, 'pet');
    const file = style(async () => content);
    const handle = createFetchHandler(
      ({ headers }) => file(headers),
      createByteLimits(quiet.metrics).bodyBytes,
    );
    const responses: Response[] = [];
    await handle(new Request('http://gateway.test/'));
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 50; index++) {
      responses.push(await handle(new Request('http://gateway.test/')));
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    for (const response of responses.slice(0, 2)) {
      expect(content.equals(await response.bytes())).toBe(true);
    }
  });
});

describe('a gateway with 256 MiB of heap', () => {
  const script = '/v1/docs/swagger-ui-bundle.js';

  it('serves its largest files to 1,000 clients while others do not read theirs', {
    timeout: 120_000,
  }, async () => {
    await using gateway = await nodeStart({
      NODE_OPTIONS: '--max-old-space-size=256',
      DATABASE_URL: ':memory:',
      LOG_LEVEL: 'warn',
      // No request may be refused, because a refused one uses no memory.
      MAX_EVENT_LOOP_LAG_MS: '60000',
      MAX_REQUESTS_IN_FLIGHT: '4000',
      MAX_REQUESTS_IN_FLIGHT_PER_KEY: '2000',
    });
    /** Sends a request and returns the connection. */
    const request = (path: string, coding: string) => {
      const socket = connectTo(gateway.url);
      const headers = `Accept: text/html\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n`;
      socket.write(rawGet(path, headers));
      return socket;
    };
    const load = async (path: string, coding: string) => {
      const socket = request(path, coding);
      let received = 0;
      let start: string | undefined;
      socket.on('data', (chunk) => {
        start ??= chunk.toString('latin1', 0, 15);
        received += chunk.length;
      });
      await once(socket, 'close');
      return `${start} ${received}`;
    };

    const unread = Array.from({ length: 50 }, (_, index) =>
      request(index % 2 ? script : '/graphql', 'identity').pause(),
    );
    for (const [crowd, path, coding] of [
      [250, script, 'br'],
      [1000, script, 'br'],
      [250, '/graphql', 'br'],
      [1000, '/graphql', 'br'],
    ] as const) {
      const loads = Array.from({ length: crowd }, () => load(path, coding));
      const alive = text(request('/livez', 'identity'));
      expect(await alive).toMatch(/^HTTP\/1\.1 200 OK/);
      const responses = new Set(await Promise.all(loads));
      expect([...responses]).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK \d{6,}$/)]);
    }
    for (const socket of unread) socket.destroy();
    const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8');
    const kib = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]);
    // Without the pages of Node's binary: how many of its 120 MB are resident depends on the kernel.
    const peakMib = (kib('VmHWM') - kib('RssFile')) / 1024;
    expect(peakMib).toBeLessThan(300);
  });
});
