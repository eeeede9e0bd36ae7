import { describe, expect, it } from 'vitest';
import { findLoadGenerator, type LoadGenerator } from '../../bench/load.ts';
import { startUpstream } from '../support/upstream.ts';

const generator = findInstalled();
const get = { method: 'GET', path: '/graphql?id=1', headers: { accept: 'text/plain' }, body: '' };
const post = { method: 'POST', path: '/graphql', headers: {}, body: '{"query":"{ pets { id } }"}' };
const load = {
  messages: [post, get],
  expectedBodies: ['{}', '[]'],
  apiKey: 'key-',
  seconds: 1,
  connections: 64,
};

/** The load generator, or undefined if neither wrk nor the peers' packages are installed. */
function findInstalled(): LoadGenerator | undefined {
  try {
    return findLoadGenerator();
  } catch {
    return undefined;
  }
}

describe.skipIf(generator === undefined)('the load generator of the benchmark', () => {
  it('sends the requests in rotation, each with its own API key when keys is "each"', async () => {
    await using server = await startUpstream(({ method }, response) =>
      response.end(method === 'GET' ? '[]' : '{}'),
    );
    const result = await generator?.run({ ...load, url: server.url, keys: 'each' });
    expect(result?.requests).toBeGreaterThan(100);
    const keys = new Set(server.seen.map(({ headers }) => headers.authorization));
    expect(keys.size).toBe(server.seen.length);
    const seen = server.seen.map(({ method, url, body }) => ({ method, url, body }));
    const posts = seen.filter(({ method }) => method === 'POST');
    const gets = seen.filter(({ method }) => method === 'GET');
    expect(posts[0]).toEqual({ method: 'POST', url: post.path, body: post.body });
    expect(gets[0]).toEqual({ method: 'GET', url: get.path, body: '' });
    expect(server.seen.find(({ method }) => method === 'GET')?.headers).toMatchObject(get.headers);
    expect(posts.length / seen.length).toBeCloseTo(0.5, 1);
  });

  it('fails when a response has an unexpected body or status', async () => {
    let count = 0;
    await using server = await startUpstream((_request, response) => {
      count++;
      if (count === 100) response.statusCode = 503;
      response.end(count === 200 ? '{"data":null}' : '{}');
    });
    await expect(generator?.run({ ...load, url: server.url, keys: 'one' })).rejects.toThrow(
      /Expected \d+ correct responses, but 2 were wrong and 0 failed or timed out/,
    );
  });
});
