import { describe, expect, it } from 'vitest';
import { findLoadGenerator, type LoadGenerator } from '../../bench/load.ts';
import { startUpstream } from '../support/upstream.ts';

const generator = findOne();
const load = { body: '{"query":"{ pets { id } }"}', answer: '{}', apiKey: 'key-', seconds: 1 };

/** The tests of the load need wrk, or the packages of the peers. */
function findOne(): LoadGenerator | undefined {
  try {
    return findLoadGenerator();
  } catch {
    return undefined;
  }
}

describe.skipIf(generator === undefined)('the load of the benchmark', () => {
  it('sends a key of its own with each request, if asked to', async () => {
    await using server = await startUpstream((_request, response) => response.end('{}'));
    const url = `${server.url}/graphql`;
    const result = await generator?.run({ ...load, url, keys: 'each' });
    expect(result?.requests).toBeGreaterThan(100);
    const keys = new Set(server.seen.map(({ headers }) => headers.authorization));
    expect(keys.size).toBe(server.seen.length);
    expect(server.seen[0]).toMatchObject({ method: 'POST', url: '/graphql', body: load.body });
  });

  it('fails when one answer is another, or has another status', async () => {
    let count = 0;
    await using server = await startUpstream((_request, response) => {
      count++;
      if (count === 100) response.statusCode = 503;
      response.end(count === 200 ? '{"data":null}' : '{}');
    });
    const url = `${server.url}/graphql`;
    await expect(generator?.run({ ...load, url, keys: 'one' })).rejects.toThrow(
      /Expected \d+ right answers, received 2 others and 0 broken/,
    );
  });
});
