import { describe, expect, it } from 'vitest';
import { createGateway, loadConfig } from '../../src/index.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { startGateway } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { sendRaw } from '../support/raw-http.ts';

const service = disposeAfterAll(await startGateway());
const demo = disposeAfterAll(await startGateway({ onlyLoopbackHosts: true }));

const target = '/graphql?query={__typename}';
const send = ({ url }: typeof service, host: string, header = '') =>
  sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${header}Connection: close\r\n\r\n`);

describe('the Host header', () => {
  it.each([
    '[bad',
    'localhost:99999',
    '[:::::]',
    'a/b',
    'user@x',
    'x:port',
    ':80',
    'localhost:80:80',
    'localhost\r\nHost: localhost',
  ])('is refused with 400, without a stack trace: %j', async (host) => {
    const received = await send(service, host);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).not.toMatch(/at .*\.[jt]s|node_modules/);
  });

  // Empty is that of an address without a host, as of a Unix domain socket.
  it.each([
    'localhost',
    'gateway.example:8080',
    '[::1]:4000',
    'localhost:',
    '[::1]:',
    '',
  ])('is accepted: %j', async (host) => {
    expect(await send(service, host)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['localhost:4000', 200],
    ['127.0.0.1', 200],
    ['[::1]:1', 200],
    ['app.localhost', 200],
    ['localhost:', 200],
    ['', 200],
    ['evil.example:', 400],
    ['evil.example', 400],
    ['localhost.evil.example', 400],
  ])('is that of a loopback host in a demo: %s gets %i', async (host, status) => {
    expect(await send(demo, host)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });
});

describe('a request that a proxy forwards', () => {
  it.each([
    'X-Forwarded-For: 203.0.113.9',
    'x-forwarded-for: 127.0.0.1, 127.0.0.1',
    'X-Forwarded-For: ::1',
    'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-For: 203.0.113.9',
    'X-Forwarded-For:',
    'Forwarded: for=127.0.0.1;proto=https',
    'forwarded: for="[2001:db8::1]"',
  ])('is refused only by a demo: %s', async (header) => {
    const refused = await send(demo, 'localhost', `${header}\r\n`);
    expect(refused).toMatch(
      /^HTTP\/1\.1 400 .*remove them in the proxy \(xfwd\), or set DEMO=off/s,
    );
    expect(await send(service, 'localhost', `${header}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['X-Forwarded-For', '203.0.113.9', 400],
    ['X-Forwarded-For', '127.0.0.1, 203.0.113.9', 400],
    ['Forwarded', 'for=127.0.0.1', 400],
    ['X-Forwarded-For', '127.0.0.1', 200],
    ['X-Forwarded-For', '::1', 200],
    ['X-Forwarded-For', '::ffff:127.0.0.1', 200],
  ])('is refused by a mounted demo unless its server names a loopback client: %s: %s gets %i', async (name, value, status) => {
    await using mounted = await createGateway(loadConfig({ DATABASE_URL: ':memory:' }), quiet.log);
    const request = new Request(`http://localhost${target}`, { headers: { [name]: value } });
    expect((await mounted(request)).status).toBe(status);
  });
});
