import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { Client } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../src/cli/serve.ts';
import { loadConfig, requireTls } from '../../src/config/config.ts';
import { createAuthority } from '../support/authority.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { openBuiltin, startGateway, type TestOptions } from '../support/gateway.ts';
import { openTelemetry } from '../support/log.ts';
import { holdingOrders } from '../support/parts.ts';
import { nodeStart } from '../support/process.ts';
import { connectTo, lastProbe, rawGet, rawPost, statusesOf } from '../support/raw-http.ts';

const authority = disposeAfterAll(createAuthority());
const { ca } = authority;
const certificate = authority.issue('IP:127.0.0.1');
const { certFile, keyFile } = certificate;

const start = (options: TestOptions = {}) => startGateway({ ...options, tls: certificate });

/** Opens a connection, encrypted or not. */
function addressOf(url: string) {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}
function openTls(url: string, options: ConnectionOptions = {}): TLSSocket {
  return tlsConnect({ ...addressOf(url), ca, ...options }).on('error', () => {});
}

/** Opens a silent connection to another gateway, whose handshake times out. */
async function openSilent() {
  const service = await start();
  const silent = connectTo(service.url).resume();
  const timedOut = once(silent, 'close').then(() => 'timed out');
  onTestFinished(() => {
    silent.destroy();
    return service[Symbol.asyncDispose]();
  });
  return { timedOut };
}

const post = rawPost('{"query":"{ orders }"}');

/** A client that trusts the authority and keeps its connection until the end of the test. */
function openClient(url: string): Client {
  const client = new Client(url, { connect: { ca } });
  onTestFinished(() => client.destroy());
  return client;
}

async function serialOf(url: string): Promise<string> {
  const socket = openTls(url);
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

describe('a gateway with a certificate', () => {
  it('closes all connections to its Unix domain socket after the grace period', async () => {
    const path = authority.write('closed.sock', '');
    await rm(path);
    await using service = await startGateway({ host: `unix:${path}`, tls: certificate });
    const { timedOut } = await openSilent();
    const silent = connect(path).on('error', () => {});
    await once(silent, 'connect');
    const client = tlsConnect({ path, ca, checkServerIdentity: () => undefined });
    client.on('error', () => {}).write(rawGet('/livez'));
    expect(String(await once(client, 'data'))).toContain('200 OK');
    const closed = once(silent.resume(), 'close');
    expect(await Promise.race([service.close(100), timedOut])).toBeUndefined();
    await closed;
  });

  it('serves several connections to its Unix domain socket', async () => {
    const path = authority.write('https.sock', '');
    await rm(path);
    await using _ = await startGateway({ host: `unix:${path}`, tls: certificate });
    const sockets: TLSSocket[] = [];
    for (let count = 0; count < 3; count++) {
      sockets.push(tlsConnect({ path, ca, checkServerIdentity: () => undefined }));
      for (const socket of sockets) {
        socket.write(rawGet('/livez'));
        expect(String(await once(socket, 'data'))).toContain('200 OK');
      }
    }
    for (const socket of sockets) socket.destroy();
  });

  it('serves HTTPS, and metrics over HTTP', async () => {
    await using started = await nodeStart({
      DATABASE_URL: ':memory:',
      TLS_CERT_FILE: certFile,
      TLS_KEY_FILE: keyFile,
      ADMIN_PORT: '0',
    });
    expect(started.output.stdout).toMatch(/GraphQL +https:\/\/127\.0\.0\.1:\d+\/graphql /);
    expect(started.output.stdout).toMatch(/REST +https:/);
    // Prometheus and probes do not know the certificate.
    expect(started.output.stdout).toMatch(/Metrics +http:/);
    const socket = openTls(started.url, { ALPNProtocols: ['h2', 'http/1.1'] });
    socket.write(rawGet('/v1/pets?limit=1', 'Connection: close\r\n'));
    expect(statusesOf(await text(socket))).toEqual([401]);
    expect(socket.alpnProtocol).toBe('http/1.1');
  });

  // Both wait for the timeout of a handshake.
  it.concurrent('closes connections whose handshake fails or is never completed', async () => {
    await using service = await start();
    const whole = openTls(service.url);
    const untrusting = tlsConnect(addressOf(service.url));
    await expect(once(untrusting, 'close')).rejects.toThrow('unable to verify');
    const began = performance.now();
    const [silent, partial, plain] = [1, 2, 3].map(() => connectTo(service.url).resume());
    // The start of a ClientHello, and HTTP without TLS.
    partial?.write(Buffer.from('1603010200010001fc0303', 'hex'));
    plain?.write(lastProbe);
    await once(plain as Socket, 'close');
    expect([silent?.closed, partial?.closed]).toEqual([false, false]);
    await Promise.all([silent, partial].map((socket) => once(socket as Socket, 'close')));
    expect(performance.now() - began).toBeGreaterThan(4000);
    whole.write(lastProbe);
    expect(statusesOf(await text(whole))).toEqual([200]);
    expect(service.logged).toEqual([]);
  });

  it.concurrent('does not wait for connections that are idle or whose handshake is not complete', async () => {
    const service = await start();
    const [idle, silent] = [openTls(service.url).resume(), connectTo(service.url).resume()];
    await once(idle, 'secureConnect');
    const closed = [idle, silent].map((socket) => once(socket, 'close'));
    const began = performance.now();
    await service.close(60_000);
    await Promise.all(closed);
    expect(performance.now() - began).toBeLessThan(50_000);
    await service.petStore[Symbol.asyncDispose]();
  });

  it('cancels the reads of a client that leaves', async () => {
    const held = holdingOrders(await openBuiltin());
    await using service = await start({ petStore: held.petStore });
    const socket = openTls(service.url);
    await once(socket, 'secureConnect');
    socket.write(post);
    await held.called(1);
    socket.end();
    await vi.waitFor(() => expect(held.cancelled()).toBe(1));
  });

  it('uses another certificate for new connections only', async () => {
    await using service = await start();
    const before = await serialOf(service.url);
    const client = openClient(service.url);
    let connections = 0;
    client.on('connect', () => connections++);
    const send = async () => (await client.request({ method: 'GET', path: '/livez' })).body.dump();
    await send();
    service.setCertificate(authority.issue('IP:127.0.0.1'));
    expect(await serialOf(service.url)).not.toBe(before);
    await send();
    expect(connections).toBe(1);
  });

  it('offers only forward secrecy over TLS 1.2, also with another certificate', async () => {
    const tls = authority.issue('IP:127.0.0.1', ['-newkey', 'rsa:2048', '-nodes']);
    await using service = await startGateway({ tls });
    const connect = async (ciphers: string) => {
      const socket = openTls(service.url, { maxVersion: 'TLSv1.2', ciphers });
      await once(socket, 'secureConnect');
      const { standardName } = socket.getCipher();
      socket.destroy();
      return standardName;
    };
    for (const change of [() => {}, () => service.setCertificate(tls)]) {
      change();
      for (const ciphers of ['kRSA', 'AES256-GCM-SHA384', 'AES128-SHA']) {
        await expect(connect(ciphers), ciphers).rejects.toThrow('handshake failure');
      }
      expect(await connect('HIGH')).toMatch(/^TLS_ECDHE_/);
    }
  });

  it('closes a connection in its handshake when the grace period ends', async () => {
    const service = await start();
    const { timedOut } = await openSilent();
    const silent = connectTo(service.url).resume();
    await once(silent, 'connect');
    const closed = Promise.all([once(silent, 'close'), service.close(100)]);
    expect(await Promise.race([closed, timedOut])).not.toBe('timed out');
    await service.petStore[Symbol.asyncDispose]();
  });
});

it('stops the start if the certificate cannot be used, or its variable is misspelled', async () => {
  const rsaKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const rsaKeyFile = authority.write(
    'rsa-key.pem',
    rsaKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  );
  const rows: [env: Record<string, string>, message: string][] = [
    [{ TLS_CERT_FILE: certFile, TLS_KEY_FILE: certFile }, 'TLS_KEY_FILE: expected the key of TLS_'],
    [
      { TLS_CERT_FILE: certFile, TLS_KEY_FILE: rsaKeyFile },
      `in ${rsaKeyFile}, found: the key of another certificate`,
    ],
    [
      { TLS_CERT_FILE: certFile, TLS_KEY_FILE: authority.issue('IP:127.0.0.1').keyFile },
      'TLS_KEY_FILE: expected the key of TLS_CERT_FILE without a passphrase in PEM',
    ],
    [{ TLS_CERT_FILE: '/nowhere', TLS_KEY_FILE: keyFile }, 'TLS_CERT_FILE: expected a certificate'],
    [
      { TLS_CERT_FILE: certFile },
      'TLS_KEY_FILE: expected the path of a PEM file, because TLS_CERT',
    ],
    [
      { TLS_CERT: certFile, TLS_PRIVATE_KEY: keyFile },
      'received TLS_CERT (did you mean TLS_CERT_FILE?), TLS_PRIVATE_KEY. Unset them to serve',
    ],
    [
      { TSL_CERT_FILE: certFile, TSL_KEY_FILE: keyFile },
      'received TSL_CERT_FILE (did you mean TLS_CERT_FILE?), TSL_KEY_FILE (did you mean TLS_KEY_FILE?)',
    ],
  ];
  for (const [env, message] of rows) {
    const start = async () => {
      const config = loadConfig({ DATABASE_URL: ':memory:', PORT: '0', ...env });
      requireTls(config);
      await serve(config, openTelemetry());
    };
    await expect(start()).rejects.toThrow(message);
  }
});
