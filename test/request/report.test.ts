import { describe, expect, it } from 'vitest';
import { timeWithoutCalls } from '../../src/request/report.ts';
import { openGateway } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';
import { sendForParts } from '../support/parts.ts';
import { openRest } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

const call = (startedAt: number, ms: number) => ({ startedAt, ms, outcome: 200 });

describe('the time without calls', () => {
  it.each([
    ['no calls', [], 100],
    ['one after the other', [call(10, 20), call(40, 50)], 10 + 10 + 10],
    ['at the same time', [call(10, 20), call(12, 70)], 10 + 18],
    ['one within another', [call(10, 80), call(12, 5)], 10 + 10],
    ['a read that was joined', [call(-50, 70)], 80],
    ['one that has not ended', [{ ...call(10, 0), outcome: undefined }], 10],
    ['one that ends later', [call(10, 5), call(20, 500)], 10 + 5],
  ])('with %s', (_, calls, expected) => {
    expect(timeWithoutCalls(0, 100, calls)).toBe(expected);
  });

  it('is not measured for the built-in backend', async () => {
    await using opened = await openGateway();
    await postGraphQL(opened.gateway, '{ pets { id } }');
    expect((await opened.metrics.scrape()).text).toMatch(
      /^petstore_gateway_overhead_seconds_count 0$/m,
    );
  });

  it('is measured for operations with calls, without the time of the service', async () => {
    const delayMs = 300;
    await using upstream = await startUpstream((_, response) => {
      setTimeout(() => sendJson(response, 200, '[]'), delayMs);
    });
    await using opened = await openGateway({ petStore: openRest(upstream.url) });
    await postGraphQL(opened.gateway, '{ __typename }');
    await postGraphQL(opened.gateway, '{ pets { id } }', {}, {});
    // Its client may read the parts slowly.
    const parts = await sendForParts(opened.gateway, 'http://gateway.test');
    expect(await parts.text()).toContain('"hasNext":false');
    const start = performance.now();
    await postGraphQL(opened.gateway, '{ pets { id } orders }');
    const tookMs = performance.now() - start;
    const { text } = await opened.metrics.scrape();
    const value = (name: string) =>
      Number(new RegExp(`^petstore_gateway_overhead_seconds_${name} (\\S+)$`, 'm').exec(text)?.[1]);
    expect(value('count')).toBe(1);
    expect(value('sum')).toBeGreaterThan(0);
    expect(value('sum') * 1000).toBeLessThan(tookMs - delayMs * 0.99);
  });
});
