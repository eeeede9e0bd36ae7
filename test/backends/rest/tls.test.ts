import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { openRestPetStore } from '../../../src/backends/rest/pet-store.ts';
import { callWith } from '../../support/gateway.ts';
import { openTelemetry } from '../../support/log.ts';

/** Creates a self-signed certificate for a subject alternative name. */
function makeCertificate(name: string, days = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days ${days}`;
  execFileSync(
    'openssl',
    [
      ...request.split(' '),
      ...['-keyout', key, '-out', cert, '-subj', '/O=Pets/CN=pets.example'],
      ...['-addext', `subjectAltName=${name}`],
    ],
    { stdio: 'ignore' },
  );
  const pems = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pems;
}

const trusted = getCACertificates();
afterEach(() => setDefaultCACertificates(trusted));

/** Starts a service that supports HTTP/2 and HTTP/1.1 over TLS, and opens a store for it. */
async function startTls(name: string, isTrusted: boolean) {
  const pems = makeCertificate(name);
  if (isTrusted) setDefaultCACertificates([...trusted, pems.cert]);
  const versions: string[] = [];
  const server: Http2SecureServer = createSecureServer({ ...pems, allowHTTP1: true });
  server.on('request', (request, response) => {
    versions.push(request.httpVersion);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('[]');
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const telemetry = openTelemetry();
  const petStore = openRestPetStore(
    {
      baseUrl: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`),
      messagesBaseUrl: undefined,
      timeoutMs: 5000,
      limits: { breakAfterFailures: 3, halfOpenAfterMs: 60_000 },
    },
    telemetry,
  );
  return {
    ...telemetry,
    petStore,
    versions,
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a REST service over TLS', () => {
  it('is called with HTTP/1.1 even if it supports HTTP/2', async () => {
    await using service = await startTls('IP:127.0.0.1', true);
    const lists = ['a', 'b', 'c'].map(async (key) => [
      ...(await service.petStore.listPets(callWith(key), {})),
    ]);
    expect(await Promise.all(lists)).toEqual([[], [], []]);
    await service.petStore.checkReady();
    expect(service.versions).toEqual(['1.1', '1.1', '1.1']);
  });

  it.each([
    ['is not trusted', 'IP:127.0.0.1', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['is for another name', 'DNS:other.example', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('fails for all keys if its certificate %s; only the log contains the reason', async (_, name, isTrusted, code) => {
    await using service = await startTls(name, isTrusted);
    const { petStore } = service;
    await expect(petStore.checkReady()).rejects.toMatchObject({
      name: 'BackendUnavailableError',
      message: 'The pet store could not be reached.',
    });
    for (const _ of [1, 2, 3]) {
      await expect(petStore.listPets(callWith('a'), {})).rejects.toMatchObject({
        name: 'BackendUnavailableError',
        message: 'The pet store could not be reached.',
      });
    }
    await expect(petStore.listPets(callWith('b'), {})).rejects.toThrow('failed repeatedly');
    await expect(petStore.checkReady()).rejects.toThrow('failed repeatedly');
    expect(service.versions).toEqual([]);
    const entries = service.logged.map((line) => JSON.parse(line));
    for (const operation of ['checkReady', 'listPets']) {
      expect(entries.find((entry) => entry.operation === operation)).toMatchObject({
        msg: 'REST call failed',
        causeCode: code,
        certificateSubject: 'O=Pets, CN=pets.example',
      });
    }
    expect(service.logged.join()).not.toContain('127.0.0.1');
  });
});
