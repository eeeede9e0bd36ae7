import { describe, expect, it } from 'vitest';
import { findWrk, load } from '../../bench/load.ts';
import { startUpstream } from '../support/upstream.ts';

const message = { method: 'POST', path: '/graphql', headers: { accept: 'text/plain' }, body: '{}' };

function isInstalled(): boolean {
  try {
    return findWrk() !== '';
  } catch (error) {
    expect((error as Error).message).toBe(
      'Expected wrk, but it is not installed. On Debian: apt-get install wrk',
    );
    return false;
  }
}

describe.skipIf(!isInstalled())('a load of the benchmark', () => {
  it.each([1, 3, Number.POSITIVE_INFINITY])('repeats the request with %s keys', async (keys) => {
    await using server = await startUpstream((_request, response) => response.end('[]'));
    const target = { url: server.url, message, expectedBody: '[]' };
    const { requests } = await load(target, keys, 1);
    expect(requests).toBeGreaterThan(0);
    const sent = new Set(server.seen.map(({ headers }) => headers.authorization));
    expect(sent.size).toBe(Math.min(keys, server.seen.length));
    const [{ method, url, body, headers } = {}] = server.seen;
    expect({ method, path: url, body, headers }).toMatchObject(message);
  });

  it('fails when a response has an unexpected body or status', async () => {
    let count = 0;
    await using server = await startUpstream((_request, response) => {
      count++;
      if (count === 5) response.statusCode = 503;
      response.end(count === 10 ? '{"data":null}' : '{}');
    });
    const target = { url: server.url, message, expectedBody: '{}' };
    await expect(load(target, 1, 1)).rejects.toThrow(
      /Expected \d+ correct responses, but 2 were wrong and 0 failed or timed out/,
    );
  });
});
