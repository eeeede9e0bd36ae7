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

  const names = 'apollographql-client-name,authorization,baggage,content-type,sentry-trace';
  it.each([
    ['https://shop.example', names, 204, names],
    ['https://shop.example', 'a b; c', 204, null],
    ['https://evil.example', names, 405, null],
  ])('allows any header from an allowed origin: %s %s', async (origin, requested, ...expected) => {
    await using service = await startGateway({ corsOrigins: exact });
    const asked = { 'access-control-request-headers': requested };
    const { status, headers } = await preflight(service.url, origin, asked);
    expect([status, headers.get('access-control-allow-headers')]).toEqual(expected);
  });

  it('logs the origin of a refused preflight request, truncated', async () => {
    await using service = await startGateway({ corsOrigins: exact });
    await preflight(service.url, 'https://shop.example');
    await preflight(service.url, 'https://evil.example"\t\u009b');
    await preflight(service.url, `https://${'a'.repeat(2000)}`);
    const lines = service.lines.map((line) => JSON.parse(line));
    expect(lines.map((line) => [line.operation, line.status, line.refusedOrigin])).toEqual([
      ['OPTIONS /graphql', 204, undefined],
      ['OPTIONS /graphql', 405, 'https://evil.example"\t\u009b'],
      ['OPTIONS /graphql', 405, `https://${'a'.repeat(262)}`],
    ]);
    expect(formatForTerminal(service.lines[1] ?? '')).toContain(
      'refusedOrigin=https://evil.example"\\u0009\\u009b',
    );
  });
});
