import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type ProxyOptions, proxyOf } from '../../../src/backends/rest/proxy.ts';
import { variables } from '../../../src/config/variables.ts';
import { createAuthority } from '../../support/authority.ts';
import { disposeAfterAll, owning } from '../../support/dispose.ts';
import { callWith } from '../../support/gateway.ts';
import { openTelemetry } from '../../support/log.ts';
import { hasTinyproxy, startProxy, startTinyproxy } from '../../support/proxy.ts';
import { openRest } from '../../support/rest-gateway.ts';
import { startServer } from '../../support/server.ts';

const authority = disposeAfterAll(createAuthority());
const certificate = authority.issue('IP:127.0.0.1');
const key = 'proxied-secret-key';

/** Starts a service and opens a store that reaches it as `options` say. */
async function startService(
  protocol: 'http' | 'https',
  options: ProxyOptions,
  connectTimeoutMs = 5000,
) {
  const requests: (string | undefined)[][] = [];
  const listener: Parameters<typeof createHttpServer>[1] = (request, response) => {
    const { url, headers } = request;
    requests.push([url, headers.host, headers.authorization, headers['proxy-authorization']]);
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  };
  const server = await startServer(
    protocol === 'https'
      ? createHttpsServer(certificate, listener)
      : createHttpServer({}, listener),
  );
  const host = `127.0.0.1:${server.port}`;
  const telemetry = openTelemetry();
  // After one failure, a read is not sent again.
  const limits = { connectTimeoutMs, breakAfterFailures: 1 };
  const rest = { timeoutMs: 5000, caFile: authority.caFile, ...options, limits };
  const petStore = openRest(`${protocol}://${host}`, rest, telemetry);
  return {
    host,
    requests,
    logged: telemetry.logged,
    checkReady: () => petStore.checkReady(),
    list: async () => Array.from(await petStore.listPets(callWith(key), {})),
    ...owning(petStore, server),
  };
}

const parse = (text: string) => variables.HTTP_PROXY.parse(text);
const basic = (credential: string) => `Basic ${Buffer.from(credential).toString('base64')}`;

describe('a proxy', () => {
  it.each([
    '200 Connection established',
    '299 Tunnel',
  ])('tunnels calls to an https service, and never receives the key: %s', async (established) => {
    await using proxy = await startProxy({ established });
    const httpsProxy = parse(proxy.url.replace('//', '//ann:p%40ss%zz@'));
    await using service = await startService('https', { httpsProxy });
    await service.checkReady();
    const lists = [service.list(), service.list(), service.list()];
    expect(await Promise.all(lists)).toEqual([[], [], []]);
    expect(service.requests).toHaveLength(3);
    expect(new Set(service.requests.map(String)).size).toBe(1);
    const direct = ['/v1/pets', service.host, `Bearer ${key}`, undefined];
    expect(service.requests[0]).toEqual(direct);
    expect(proxy.heads.length).toBeGreaterThanOrEqual(2);
    for (const head of proxy.heads) {
      expect(head).toMatch(`CONNECT ${service.host} HTTP/1.1\r\nhost: ${service.host}\r\n`);
      expect(head).toContain(`proxy-authorization: ${basic('ann:p@ss%zz')}\r\n`);
    }
    expect(proxy.received()).not.toMatch(/proxied-secret-key|Bearer|\/v1/);
  });

  it('receives the whole URL of calls to an http service', async () => {
    await using proxy = await startProxy();
    await using service = await startService('http', { httpProxy: parse(proxy.url) });
    await service.checkReady();
    for (const _ of [1, 2]) expect(await service.list()).toEqual([]);
    const url = `http://${service.host}/v1/pets`;
    expect(service.requests).toEqual(
      Array(2).fill([url, service.host, `Bearer ${key}`, undefined]),
    );
    expect(proxy.heads.find(Boolean)).toMatch(`GET ${url} HTTP/1.1\r\n`);
  });

  it('can be reached over TLS, with a certificate of Node’s authorities', async () => {
    await using proxy = await startProxy({ certificate });
    for (const protocol of ['http', 'https'] as const) {
      const proxies = { httpProxy: parse(proxy.url), httpsProxy: parse(proxy.url) };
      await using service = await startService(protocol, proxies);
      // UPSTREAM_CA_FILE is for the service.
      await expect(service.list()).rejects.toMatchObject({ name: 'BackendUnavailableError' });
      expect(JSON.parse(service.logged.at(-1) ?? '{}')).toMatchObject({
        causeCode: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      });
      expect(service.requests).toEqual([]);
    }
  });

  it.each([
    ['the other protocol', 'http', (url: string) => ({ httpsProxy: parse(url) })],
    ['NO_PROXY', 'https', (url: string) => ({ httpsProxy: parse(url), noProxy: ['*'] })],
  ] as const)('is not used for %s', async (_, protocol, options) => {
    await using proxy = await startProxy();
    await using service = await startService(protocol, options(proxy.url));
    expect(await service.list()).toEqual([]);
    expect(service.requests).toHaveLength(1);
    expect(proxy.heads).toEqual([]);
  });

  const refuse = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n';
  const reset = (socket: Socket) => socket.resetAndDestroy();

  it.each<[string, (socket: Socket) => unknown, object, number?]>([
    [
      'refuses the tunnel',
      (socket) => socket.end(refuse),
      { causeName: 'Error', causeCode: '407' },
    ],
    ['closes the connection', (socket) => socket.end(), { causeName: 'SocketError' }],
    ['resets the connection', reset, { causeCode: 'ECONNRESET' }],
    ['does not respond', () => {}, { causeName: 'HeadersTimeoutError' }, 100],
    [
      'responds with garbage',
      (socket) => socket.end('a\r\n\r\n'),
      { causeName: 'HTTPParserError' },
    ],
  ])('that %s causes a typed error, and the log contains the reason', async (_, respond, logged, ms) => {
    await using proxy = await startProxy({ respond });
    await using service = await startService('https', { httpsProxy: parse(proxy.url) }, ms);
    const name = /^Backend(?:Unavailable|Timeout)Error$/;
    await expect(service.checkReady()).rejects.toMatchObject({ name: expect.stringMatching(name) });
    await expect(service.list()).rejects.toMatchObject({ name: expect.stringMatching(name) });
    expect(service.requests).toEqual([]);
    const lines = service.logged.filter((line) => line.includes('REST call failed'));
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject(logged);
    expect(service.logged.join()).not.toContain('127.0.0.1');
  });

  it('that is not there causes UPSTREAM_UNAVAILABLE', async () => {
    const proxies = { httpProxy: parse('127.0.0.1:1'), httpsProxy: parse('127.0.0.1:1') };
    for (const protocol of ['http', 'https'] as const) {
      await using service = await startService(protocol, proxies);
      await expect(service.list()).rejects.toMatchObject({ name: 'BackendUnavailableError' });
      expect(service.logged.join()).toContain('ECONNREFUSED');
    }
  });
});

if (!hasTinyproxy) process.stdout.write('tinyproxy tests are SKIPPED: install tinyproxy-bin.\n');

describe.skipIf(!hasTinyproxy)('tinyproxy with a credential', () => {
  it.each(['http', 'https'] as const)('passes on calls to an %s service', async (protocol) => {
    await using proxy = await startTinyproxy('ann', 'hunter2');
    const url = parse(`ann:hunter2@${proxy.host}`);
    await using service = await startService(protocol, { httpProxy: url, httpsProxy: url });
    await service.checkReady();
    for (const _ of [1, 2]) expect(await service.list()).toEqual([]);
    expect(service.requests).toHaveLength(2);
    const direct = ['/v1/pets', service.host, `Bearer ${key}`, undefined];
    expect(service.requests[0]).toEqual(direct);
    const wrong = parse(`ann:wrong@${proxy.host}`);
    await using refused = await startService(protocol, { httpProxy: wrong, httpsProxy: wrong });
    await expect(refused.list()).rejects.toThrow();
    expect(refused.requests).toEqual([]);
  });
});

describe('NO_PROXY', () => {
  it.each([
    ['https://pets.example', 'pets.example', true],
    ['https://pets.example', 'PETS.example.', true],
    ['https://a.pets.example.', '.pets.example.:443', true],
    ['https://bücher.example', 'Bücher.example', true],
    ['https://127.0.0.1', '0.0.1', false],
    ['https://127.0.0.1', '.0.0.1', false],
    ['https://127.0.0.1', '*.0.0.1', false],
    ['https://127.0.0.1', '1', false],
    ['https://127.0.0.1', '127.1', true],
    ['https://127.0.0.1:8443', '127.0.0.1.:8443', true],
    ['https://[::1]', '0:0:0:0:0:0:0:1', true],
    ['https://[::1]', '[0:0:0:0:0:0:0:1]:443', true],
    ['https://[2001:db8::a]', '2001:DB8:0::A', true],
    ['https://[2001:db8::a]', '::a', false],
    ['https://pets.example', '[', false],
    ['https://pets.example', '.', false],
    ['https://PETS.example./v1', 'pets.example', true],
    ['https://a.pets.example', 'pets.example', true],
    ['https://pets.example', '.pets.example', true],
    ['https://a.pets.example', '*.pets.example', true],
    ['https://pets.example', '*.pets.example', false],
    ['https://otherpets.example', 'pets.example', false],
    ['https://pets.example', 'pets.example:443', true],
    ['https://pets.example:8443', 'pets.example:443', false],
    ['http://pets.example', 'pets.example:80', true],
    ['https://pets.example', 'other.example, *', true],
    ['https://pets.example', 'a.example b.example,pets.example', true],
    ['https://[::1]', '::1', true],
    ['https://[::1]:8443', '[::1]:443', false],
  ])('%s is reached directly with %s: %s', (service, text, isDirect) => {
    const url = new URL('http://proxy.example');
    const noProxy = variables.NO_PROXY.parse(text);
    const proxy = proxyOf(new URL(service), { httpProxy: url, httpsProxy: url, noProxy });
    expect(proxy === undefined).toBe(isDirect);
  });
});
