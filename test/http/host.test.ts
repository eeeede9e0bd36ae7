import { describe, expect, it } from 'vitest';
import { disposeAfterAll } from '../support/dispose.ts';
import { startGateway } from '../support/gateway.ts';
import { sendRaw } from '../support/raw-http.ts';

const service = disposeAfterAll(await startGateway());
const demo = disposeAfterAll(await startGateway({ onlyLoopbackHosts: true }));

const target = '/graphql?query={__typename}';
const send = ({ url }: typeof service, host: string) =>
  sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

describe('the Host header', () => {
  it.each([
    '[bad',
    'localhost:99999',
    '[:::::]',
    'a/b',
    'user@x',
    'x:port',
    '',
    'localhost\r\nHost: localhost',
  ])('is refused with 400, without a stack trace: %j', async (host) => {
    const received = await send(service, host);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).not.toMatch(/at .*\.[jt]s|node_modules/);
  });

  it.each(['localhost', 'gateway.example:8080', '[::1]:4000'])('is accepted: %s', async (host) => {
    expect(await send(service, host)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['localhost:4000', 200],
    ['127.0.0.1', 200],
    ['[::1]:1', 200],
    ['app.localhost', 200],
    ['evil.example', 400],
    ['localhost.evil.example', 400],
  ])('is that of a loopback host in a demo: %s gets %i', async (host, status) => {
    expect(await send(demo, host)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });
});
