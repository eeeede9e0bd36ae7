import { describe, expect, it } from 'vitest';
import { apiKey, openGateway, startGateway } from '../support/gateway.ts';
import { refusalsIn } from '../support/metrics.ts';
import { startIn } from '../support/process.ts';
import { send, served } from '../support/rate.ts';

const query = '/graphql?query={pets(limit:1){id}}';

describe('the rate per key', () => {
  it('also limits callers in the same process', async () => {
    await using opened = await openGateway({ rateLimitPerKey: 1 });
    expect(await opened.execute('{ __typename }')).toEqual({ data: { __typename: 'Query' } });
    expect(await opened.execute('{ __typename }')).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED', status: 429, retryAfterMs: 1000 } }],
    });
  });

  it('refuses further requests at /graphql and /v1, with the time to the next attempt', async () => {
    await using service = await startGateway({ rateLimitPerKey: 2 });
    const expected = { 'retry-after': '1', 'ratelimit-policy': '"key";q=2;w=1' };
    for (const path of ['/v1/pets', query])
      expect((await send(service.url, undefined, path)).status).toBe(200);
    const limited = await send(service.url, undefined, query);
    expect(limited.status).toBe(429);
    expect(Object.fromEntries(limited.headers)).toMatchObject({
      ...expected,
      ratelimit: '"key";r=0;t=1',
    });
    expect(limited.body.errors[0].extensions).toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      retryAfterMs: 1000,
      outcome: 'NOT_DONE',
    });
    const rest = await send(service.url);
    expect(rest.body).toEqual({
      code: 'rate_limited',
      message: 'Too many requests per second with this API key. Try again in one second.',
      status: 429,
    });
    expect(rest.headers.get('ratelimit')).toBe('"key";r=0;t=1');
    expect(await refusalsIn(service.metrics)).toEqual({ 'rate_of_key 429': 2 });
    // Health checks have no rate.
    for (let count = 0; count < 5; count++) {
      expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    }
  });

  it('is shared by requests without a key and with keys that were never accepted', async () => {
    await using service = await startGateway({ rateLimitPerKey: 3 });
    expect((await send(service.url)).status).toBe(200);
    const unknown = ['', 'Bearer wrong', 'Basic eDp5', 'Bearer wrong-too'];
    const statuses = [];
    for (const authorization of unknown) {
      const { status, headers } = await send(service.url, authorization);
      statuses.push([status, headers.get('ratelimit-policy')]);
    }
    // The first request with the accepted key took one, because the key was not accepted yet.
    const policy = '"unknown-keys";q=3;w=1';
    expect(statuses).toEqual([
      [401, null],
      [401, null],
      [429, policy],
      [429, policy],
    ]);
    expect(await served(service.url, 5)).toBe(2);
    expect(await refusalsIn(service.metrics)).toMatchObject({ 'rate_of_unknown_keys 429': 2 });
  });

  it('is one rate, however the scheme is written', async () => {
    await using service = await startGateway({ rateLimitPerKey: 3 });
    expect(await served(service.url, 2)).toBe(2);
    expect(await served(service.url, 1, `bearer   ${apiKey}`)).toBe(1);
    expect(await served(service.url, 3, `BEARER  ${apiKey}`)).toBe(0);
  });

  it('limits nothing unless it is set, and loads no client of a store', async () => {
    const report = `import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => {
  if (/@redis/.test(url)) process.stderr.write('loaded ' + url);
  return next(url, context);
} });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(report)}`;
    const common = { NODE_OPTIONS, DATABASE_URL: ':memory:' };
    // Without a build, the modules have the names of their packages.
    const startSources = (env: Record<string, string>) => startIn('.', ['src/main.ts'], env);
    await using unlimited = await startSources(common);
    expect(await served(unlimited.url, 50)).toBe(50);
    await using alone = await startSources({ ...common, RATE_LIMIT_PER_KEY: '5' });
    expect(await served(alone.url, 10)).toBeLessThan(10);
    const store = { RATE_LIMIT_PER_KEY: '5', RATE_LIMIT_STORE: 'redis://127.0.0.1:1' };
    await using shared = await startSources({ ...common, ...store });
    for (const { output } of [unlimited, alone]) expect(output.stderr).not.toContain('loaded');
    expect(shared.output.stderr).toContain('loaded');
  }, 30_000);
});
