import { describe, expect, it } from 'vitest';
import { formatForTerminal } from '../../src/telemetry/terminal.ts';
import { startGateway } from '../support/gateway.ts';

const preflight = (url: string, origin: string, headers = {}) =>
  fetch(`${url}/graphql`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', ...headers },
  });

describe('CORS', () => {
  const exact = ['https://shop.example', 'https://admin.example'];
  const anyPort = ['http://localhost:*', 'http://[::1]:*'];
  it.each([
    [exact, exact, ['https://evil.example', 'null', 'https://shop.example.evil', '']],
    [
      anyPort,
      ['http://localhost:5173', 'http://localhost', 'http://[::1]:3000'],
      [
        'https://localhost:5173',
        'http://localhost.evil.example:5173',
        'http://evil.example:5173',
        'http://localhost:5173.evil.example',
      ],
    ],
    [[], [], ['https://evil.example']],
  ])('allows requests only from %j', async (corsOrigins, allowed, others) => {
    await using service = await startGateway({ corsOrigins });
    const headersFor = async (origin: string) => {
      const asked = (await preflight(service.url, origin)).headers;
      const { headers } = await fetch(`${service.url}/v1/openapi.json`, { headers: { origin } });
      const names = ['access-control-allow-origin', 'access-control-allow-credentials'];
      return [...names.map((name) => asked.get(name)), headers.get(names[0] ?? '')];
    };
    for (const origin of allowed) expect(await headersFor(origin)).toEqual([origin, null, origin]);
    for (const origin of others) expect(await headersFor(origin)).toEqual([null, null, null]);
  });

  it('names Origin in Vary, whether the origin is allowed or not', async () => {
    await using service = await startGateway({ corsOrigins: exact });
    for (const origin of ['https://shop.example', 'https://evil.example']) {
      const { headers } = await fetch(`${service.url}/v1/openapi.json`, { headers: { origin } });
      expect(headers.get('vary')).toBe('Accept-Encoding, Origin');
    }
  });

  it('lets an allowed page read the headers of the gateway, and send each method', async () => {
    await using service = await startGateway({ corsOrigins: exact });
    const headers = { origin: 'https://shop.example' };
    const response = await fetch(`${service.url}/v1/openapi.json`, { headers });
    expect(response.headers.get('access-control-expose-headers')).toBe(
      'etag, x-request-id, retry-after, ratelimit, ratelimit-policy, idempotent-replayed',
    );
    const asked = await preflight(service.url, headers.origin);
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-methods': 'GET, POST',
      'access-control-max-age': '3600',
      vary: 'Access-Control-Request-Headers, Origin',
    });
  });

  const names = 'apollographql-client-name,authorization,baggage,content-type,sentry-trace';
  it.each([
    ['https://shop.example', names, 204, names],
    ['https://shop.example', 'a b; c', 204, null],
    ['https://evil.example', names, 403, null],
  ])('allows any header from an allowed origin: %s %s', async (origin, requested, ...expected) => {
    await using service = await startGateway({ corsOrigins: exact });
    const asked = { 'access-control-request-headers': requested };
    const { status, headers } = await preflight(service.url, origin, asked);
    expect([status, headers.get('access-control-allow-headers')]).toEqual(expected);
  });

  it('responds to a refused preflight request with the reason', async () => {
    await using service = await startGateway({ corsOrigins: exact });
    const response = await preflight(service.url, 'http://localhost:5173');
    expect(response.headers.get('allow')).toBeNull();
    const message = 'Origin: expected one of CORS_ORIGINS, received "http://localhost:5173".';
    expect(await response.json()).toMatchObject({
      errors: [{ message, extensions: { code: 'BAD_REQUEST' } }],
    });
  });

  it.each([
    [[], ' CORS_ORIGINS=http://localhost:5173\n'],
    [exact, ' CORS_ORIGINS=https://shop.example,https://admin.example,http://localhost:5173\n'],
  ])('warns once of each refused origin, and says what to set: %j', async (corsOrigins, advice) => {
    await using service = await startGateway({ corsOrigins });
    for (const origin of ['http://localhost:5173', 'http://localhost:5173', 'null', 'x://y']) {
      await preflight(service.url, origin);
    }
    const [warning = '', ...others] = service.logged;
    expect(formatForTerminal(warning)).toMatch(/ WARN {2}a page of another origin was refused/);
    expect(formatForTerminal(warning)).toContain(advice);
    expect(others).toEqual([]);
    for (let port = 1; port < 50; port++) await preflight(service.url, `http://[::1]:${port}`);
    expect(service.logged).toHaveLength(20);
  });

  it('logs the origin of a refused preflight request, truncated', async () => {
    await using service = await startGateway({ corsOrigins: exact });
    await preflight(service.url, 'https://shop.example');
    await preflight(service.url, 'https://evil.example"\t\u009b');
    await preflight(service.url, `https://${'a'.repeat(2000)}`);
    const lines = service.lines.map((line) => JSON.parse(line));
    expect(lines.map((line) => [line.operation, line.status, line.refusedOrigin])).toEqual([
      ['OPTIONS /graphql', 204, undefined],
      ['OPTIONS /graphql', 403, 'https://evil.example"\t\u009b'],
      ['OPTIONS /graphql', 403, `https://${'a'.repeat(262)}`],
    ]);
    expect(formatForTerminal(service.lines[1] ?? '')).toContain(
      'refusedOrigin=https://evil.example"\\u0009\\u009b',
    );
  });
});
