import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readRateLimit } from '../../packages/client/src/index.ts';
import { apiKey, openGateway } from '../support/gateway.ts';
import { refusalsIn } from '../support/metrics.ts';

const query = '/graphql?query={pets(limit:1){id}}';

/** Opens a gateway with this rate per key. */
async function open(rateLimitPerKey?: number) {
  const opened = await openGateway(rateLimitPerKey === undefined ? {} : { rateLimitPerKey });
  /** Sends a request with an API key, or without one. */
  async function send(authorization = `Bearer ${apiKey}`, path = '/v1/pets') {
    const headers: Record<string, string> = authorization === '' ? {} : { authorization };
    const response = await opened.gateway(new Request(`http://gateway.test${path}`, { headers }));
    return { status: response.status, headers: response.headers, body: await response.json() };
  }
  return {
    ...opened,
    send,
    /** Sends requests until one is refused, at most this many. Returns how many were served. */
    async served(most = 2000, authorization?: string): Promise<number> {
      for (let served = 0; served < most; served++) {
        if ((await send(authorization)).status === 429) return served;
      }
      return most;
    },
  };
}

describe('the rate per key', () => {
  // Time passes only when a test lets it.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'], now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it.each([1, 3, 7, 20])('of %i allows one second at once, then its rate', async (perSecond) => {
    await using opened = await open(perSecond);
    expect(await opened.served()).toBe(perSecond);
    let served = 0;
    for (let times = 0; times < 80; times++) {
      vi.advanceTimersByTime(25);
      served += await opened.served();
    }
    expect(served).toBe(2 * perSecond);
    vi.advanceTimersByTime(60_000);
    expect(await opened.served()).toBe(perSecond);
  });

  it('counts REST calls, also those of callers in the same process', async () => {
    await using opened = await open(5);
    const execute = async (query: string) => {
      const authorization = `Bearer ${apiKey}`;
      return (await opened.execute(query, {}, { authorization })).errors?.[0]?.extensions;
    };
    const calls = (count: number) => {
      const fields = Array.from({ length: count }, (_, index) => `a${index}: pets { id }`);
      return execute(`{ ...F } fragment F on Query { __typename ${fields.join(' ')} }`);
    };
    const refused = { code: 'RATE_LIMITED', status: 429, retryAfterMs: 1000 };
    expect(await calls(4)).toBeUndefined();
    expect(await calls(2)).toMatchObject(refused);
    expect(await calls(1)).toBeUndefined();
    for (let count = 0; count < 20; count++) expect(await calls(0)).toBeUndefined();
    expect(await calls(1)).toMatchObject(refused);
    // More than a second's worth passes when the bucket is full; later calls wait for it.
    vi.advanceTimersByTime(1000);
    expect(await calls(10)).toBeUndefined();
    vi.advanceTimersByTime(1100);
    expect(await calls(1)).toMatchObject(refused);
    vi.advanceTimersByTime(100);
    expect(await calls(1)).toBeUndefined();
  });

  it('refuses further requests at /graphql and /v1, with the time to the next attempt', async () => {
    await using opened = await open(2);
    for (const path of ['/v1/pets', query])
      expect((await opened.send(undefined, path)).status).toBe(200);
    const limited = await opened.send(undefined, query);
    expect(limited.status).toBe(429);
    expect(Object.fromEntries(limited.headers)).toMatchObject({
      'retry-after': '1',
      'ratelimit-policy': '"key";q=2;w=1',
      ratelimit: '"key";r=0;t=1',
    });
    expect(limited.body.errors[0].extensions).toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      retryAfterMs: 1000,
      outcome: 'NOT_DONE',
    });
    const rest = await opened.send();
    expect(rest.body).toEqual({
      code: 'rate_limited',
      message: 'Too many calls per second with this API key. Try again in one second.',
      status: 429,
    });
    expect(rest.headers.get('ratelimit')).toBe('"key";r=0;t=1');
    expect(await refusalsIn(opened.metrics)).toEqual({ 'rate_of_key 429': 2 });
    // Health checks have no rate.
    const live = () => opened.gateway(new Request('http://gateway.test/livez'));
    for (let count = 0; count < 5; count++) expect((await live()).status).toBe(200);
  });

  it('is shared by keys that were never accepted, and not used by requests without a key', async () => {
    await using opened = await open(3);
    expect((await opened.send()).status).toBe(200);
    const statuses = [];
    for (const authorization of ['', '', '', 'Bearer wrong', 'Basic eDp5', 'Bearer wrong-too']) {
      const { status, headers } = await opened.send(authorization);
      statuses.push([status, headers.get('ratelimit-policy')]);
    }
    // The first request with the accepted key took one, because the key was not accepted yet.
    const policy = '"unknown-keys";q=3;w=1';
    expect(statuses).toEqual([
      [401, policy],
      [401, policy],
      [401, policy],
      [401, policy],
      [401, policy],
      [429, policy],
    ]);
    expect(await opened.served()).toBe(2);
    expect(await refusalsIn(opened.metrics)).toMatchObject({ 'rate_of_unknown_keys 429': 1 });
  });

  it('cannot be used up by one key that was never accepted', async () => {
    await using opened = await open(8);
    const first = await opened.send('Bearer wrong');
    expect(readRateLimit(first.headers)).toMatchObject({ perSecond: 8, remaining: 1 });
    expect(await opened.served(20, 'Bearer wrong')).toBe(1);
    expect(await opened.served(20, 'Bearer wrong-too')).toBe(2);
    expect((await opened.send()).status).toBe(200);
    // What is left to the key, not to all of them.
    const { headers } = await opened.send('Bearer wrong');
    expect(readRateLimit(headers)).toMatchObject({ perSecond: 8, remaining: 0 });
  });

  it.each(['key', 'unknown-keys'])('is read beside those of proxies: %s', (name) => {
    const headers = new Headers({
      'ratelimit-policy': `"day";q=9000;w=86400, "${name}"; w=1; q=4`,
      ratelimit: `"day";r=8000;t=30, "${name}"; t=1; r=3, "host";r=1;t=2`,
    });
    expect(readRateLimit(headers)).toEqual({ perSecond: 4, remaining: 3, resetMs: 1000 });
    headers.set('ratelimit', '"day";r=8000;t=30');
    expect(readRateLimit(headers)).toBeUndefined();
  });

  it('is on every response, with what is left', async () => {
    await using opened = await open(4);
    const left = async (path = '/v1/pets', authorization?: string) => {
      const { headers } = await opened.send(authorization, path);
      return readRateLimit(headers);
    };
    // The first request shares the rate of unknown keys, until the key is accepted.
    expect(await left()).toEqual({ perSecond: 4, remaining: 3, resetMs: 1000 });
    const two = '/graphql?query={a:pets{id}b:orders}';
    expect(await left(two)).toEqual({ perSecond: 4, remaining: 1, resetMs: 1000 });
    // Neither takes a call.
    expect(await left('/nowhere')).toMatchObject({ remaining: 1 });
    expect(await left('/graphql?query={__typename}')).toMatchObject({ remaining: 1 });
    expect(await left('/graphql?query={a:pets{id}b:orders}')).toMatchObject({ remaining: 1 });
    // What is left of another rate.
    expect(await left('/graphql?query={__typename}', '')).toMatchObject({ remaining: 3 });
    vi.advanceTimersByTime(1000);
    const { headers } = await opened.send(undefined, '/graphql?query={__typename}');
    expect(headers.get('ratelimit')).toBe('"key";r=4;t=0');
    expect(headers.get('ratelimit-policy')).toBe('"key";q=4;w=1');
    await using unlimited = await open();
    expect(readRateLimit((await unlimited.send()).headers)).toBeUndefined();
  });

  it('is one rate, however the scheme is written', async () => {
    await using opened = await open(3);
    expect(await opened.served(2)).toBe(2);
    expect(await opened.served(1, `bearer   ${apiKey}`)).toBe(1);
    expect(await opened.served(3, `BEARER  ${apiKey}`)).toBe(0);
  });

  it('limits nothing unless it is set', async () => {
    await using opened = await open();
    expect(await opened.served(50)).toBe(50);
  });
});
