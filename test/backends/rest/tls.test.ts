import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createSecureServer, type SecureServerOptions } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TlsFiles } from '../../../src/tls-files.ts';
import { createAuthority } from '../../support/authority.ts';
import { disposeAfterAll, owning } from '../../support/dispose.ts';
import { callWith } from '../../support/gateway.ts';
import { openTelemetry } from '../../support/log.ts';
import { openRest } from '../../support/rest-gateway.ts';
import { startServer } from '../../support/server.ts';
import { rex } from '../../support/writes.ts';

const authority = disposeAfterAll(createAuthority());
const other = disposeAfterAll(createAuthority());
const nodeAuthorities = getCACertificates();
const { caFile } = authority;
const service = authority.issue('IP:127.0.0.1,DNS:localhost');
const client = authority.issue('DNS:gateway.example');
const stranger = other.issue('DNS:gateway.example');

/** Starts a service that supports HTTP/2 and HTTP/1.1 over TLS, and opens a store for it. */
async function startService(files: TlsFiles, options: SecureServerOptions = {}) {
  const versions: string[] = [];
  let connections = 0;
  const secure = createSecureServer(
    { ...service, allowHTTP1: true, ...options },
    (request, response) => {
      versions.push(request.httpVersion);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('[]');
    },
  ).on('connection', () => connections++);
  const server = await startServer(secure);
  const telemetry = openTelemetry();
  const messagesBaseUrl = new URL(`https://localhost:${server.port}`);
  const limits = { breakAfterFailures: 5, halfOpenAfterMs: 60_000 };
  const rest = { messagesBaseUrl, timeoutMs: 5000, limits, ...files };
  const petStore = openRest(`https://127.0.0.1:${server.port}`, rest, telemetry);
  return {
    ...telemetry,
    versions,
    connections: () => connections,
    checkReady: () => petStore.checkReady(),
    reload: petStore.reload,
    send: () => petStore.sendMessage(callWith('a'), 'Hello'),
    list: async (key = 'a') => Array.from(await petStore.listPets(callWith(key), {})),
    ...owning(petStore, server),
  };
}

/** A service that requires a client certificate of the authority. */
const mutual = { requestCert: true, ca: authority.ca };

describe('a REST service with a certificate of a private authority', () => {
  it('is trusted with UPSTREAM_CA_FILE, also beside other authorities', async () => {
    const both = authority.write('both.pem', `# Two\r\n${other.ca}${authority.ca}`);
    for (const files of [{ caFile }, { caFile: both }]) {
      await using started = await startService(files);
      expect(await started.list()).toEqual([]);
      await started.checkReady();
    }
  });

  it('is called with HTTP/1.1 even if it supports HTTP/2, and trusted with Node’s authorities', async () => {
    setDefaultCACertificates([...nodeAuthorities, authority.ca]);
    onTestFinished(() => setDefaultCACertificates(nodeAuthorities));
    await using started = await startService({});
    expect(await Promise.all(['a', 'b', 'c'].map(started.list))).toEqual([[], [], []]);
    await started.checkReady();
    expect(started.versions).toEqual(['1.1', '1.1', '1.1']);
  });

  it('is connected to by each call at once, although the first handshake does not end', async () => {
    const sockets: Socket[] = [];
    await using server = await startServer(createServer((socket) => sockets.push(socket)));
    const options = { timeoutMs: 120_000, limits: { connectTimeoutMs: 60_000 } };
    await using petStore = openRest(`https://127.0.0.1:${server.port}`, options);
    const calls = Promise.allSettled(
      ['a', 'b', 'c'].map((key) => petStore.createPet(callWith(key), rex)),
    );
    // In less than the time to connect.
    await vi.waitFor(() => expect(sockets).toHaveLength(3));
    for (const socket of sockets) socket.destroy();
    for (const { status } of await calls) expect(status).toBe('rejected');
  });

  const otherName = authority.issue('DNS:other.example');
  const weakKey = {
    ...authority.issue('IP:127.0.0.1', ['-newkey', 'rsa:1024', '-nodes', '-days', '2']),
    ciphers: 'DEFAULT@SECLEVEL=0',
  };
  it.each([
    ['is not one of Node’s', {}, {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['is another one', { caFile: other.caFile }, {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['certifies another name', { caFile }, otherName, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    // Node has no code for it.
    ['certifies a weak key', { caFile }, weakKey, 'EE certificate key too weak'],
  ])('fails for all keys if its authority %s; only the log contains the reason', async (_, files, options, causeCode) => {
    await using started = await startService(files, options);
    const unreachable = {
      name: 'BackendUnavailableError',
      message: 'The pet store could not be reached.',
    };
    await expect(started.checkReady()).rejects.toMatchObject(unreachable);
    for (const _ of [1, 2, 3, 4, 5])
      await expect(started.list()).rejects.toMatchObject(unreachable);
    // A rejected certificate is no reason to repeat a read.
    expect(started.connections()).toBe(6);
    await expect(started.list('b')).rejects.toThrow('failed repeatedly');
    await expect(started.checkReady()).rejects.toThrow('failed repeatedly');
    expect(started.versions).toEqual([]);
    const entries = started.logged.map((line) => JSON.parse(line));
    for (const operation of ['checkReady', 'listPets']) {
      expect(entries.find((entry) => entry.operation === operation)).toMatchObject({
        msg: 'REST call failed',
        causeCode,
      });
    }
    expect(started.logged.join()).not.toContain('127.0.0.1');
  });

  it('can require another client certificate, which is read again without a restart', async () => {
    const { certFile, keyFile } = client;
    await using started = await startService({ caFile }, mutual);
    const causeCode = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
    const refused = {
      message: `The pet store refused the client certificate (${causeCode}).`,
      writeOutcome: 'NOT_DONE',
    };
    await expect(started.checkReady()).rejects.toMatchObject(refused);
    await expect(started.list()).rejects.toMatchObject(refused);
    await expect(started.send()).rejects.toMatchObject(refused);
    // No call is repeated.
    expect(started.connections()).toBe(3);
    const entries = started.logged.map((line) => JSON.parse(line));
    expect(entries).toHaveLength(3);
    for (const entry of entries) {
      expect(entry).toMatchObject({ reason: refused.message, causeCode, outcome: 'notSent' });
    }
    const wrong = { caFile, certFile, keyFile: stranger.keyFile };
    expect(() => started.reload(wrong)).toThrow('UPSTREAM_KEY_FILE: expected the key');
    await expect(started.list()).rejects.toMatchObject(refused);
    started.reload({ caFile, certFile, keyFile });
    expect(await started.list()).toEqual([]);
    await started.checkReady();
    // The service of messages, which has another origin, responds with a list.
    await expect(started.send()).rejects.toThrow('body: expected an object');
  });

  it('refuses calls with a client certificate of another authority', async () => {
    const { certFile, keyFile } = stranger;
    await using started = await startService({ caFile, certFile, keyFile }, mutual);
    // Node's server sends no alert.
    await expect(started.checkReady()).rejects.toThrow('closed the connection');
    await expect(started.list()).rejects.toMatchObject({ name: 'BackendUnavailableError' });
  });

  it.each(['-tls1_2', '-tls1_3'])('is not ready if it refuses by an alert: %s', async (version) => {
    await using server = await startOpenssl(version);
    const { certFile, keyFile } = stranger;
    const url = `https://127.0.0.1:${server.port}`;
    await using petStore = openRest(url, { caFile, certFile, keyFile });
    const message = 'refused the client certificate (ERR_SSL_TLSV1_ALERT_UNKNOWN_CA).';
    await expect(petStore.checkReady()).rejects.toThrow(message);
    petStore.reload({ caFile, certFile: client.certFile, keyFile: client.keyFile });
    // It sends no session ticket.
    await petStore.checkReady();
  });
});

/** Starts OpenSSL's server, which requires a client certificate and sends no session tickets. */
async function startOpenssl(version: string) {
  const mutual = ['-CAfile', caFile, '-Verify', '1', '-verify_return_error'];
  const own = ['-cert', service.certFile, '-key', service.keyFile];
  const options = ['-accept', '127.0.0.1:0', '-num_tickets', '0', '-www', version];
  const server = spawn('openssl', ['s_server', ...own, ...mutual, ...options]);
  let port: string | undefined;
  for await (const line of createInterface(server.stdout)) {
    port = /^ACCEPT .*:(\d+)$/.exec(line)?.[1];
    if (port !== undefined) break;
  }
  server.stdout.resume();
  return {
    port: Number(port),
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
}

describe('a PEM file that cannot be used', () => {
  const garbage = authority.write('garbage.pem', 'garbage');
  const { certFile, keyFile } = client;
  const damaged = other.ca.replace(/\n.{4}/, '\n....');
  const cut = other.ca.slice(0, -80);
  const headless = other.ca.replace('-----BEGIN', '----BEGIN');
  const beheaded = other.ca.replace(/.*\n/, '');
  const second = (text: string, index: number) =>
    authority.write(`second-${index}.pem`, `# Both\n${authority.ca}\n${text}${service.cert}`);

  const chain = authority.write('chain.pem', client.cert + client.key + damaged);
  const noCertificates = 'UPSTREAM_CA_FILE: expected certificates in PEM, in ';
  const noCertificate = 'UPSTREAM_CERT_FILE: expected a certificate in PEM';
  const otherKey = 'UPSTREAM_KEY_FILE: expected the key of UPSTREAM_CERT_FILE';

  it.each<readonly [TlsFiles, string]>([
    ...[damaged, cut, headless, beheaded, 'BEGIN CERTIFICATE-----\n']
      .map(second)
      .map((file): [TlsFiles, string] => [{ caFile: file }, noCertificates + file]),
    [{ certFile: chain, keyFile }, noCertificate],
    [{ caFile: '/nowhere.pem' }, `${noCertificates}/nowhere.pem, found: ENOENT`],
    [{ caFile: garbage }, `${noCertificates}${garbage}, found: `],
    [{ certFile: garbage, keyFile }, `${noCertificate}, in ${garbage}`],
    [{ certFile, keyFile: garbage }, otherKey],
    [{ certFile, keyFile: stranger.keyFile }, otherKey],
  ])('is refused: %j', (files, message) => {
    expect(() => openRest('https://pets.example', files)).toThrow(message);
  });
});
