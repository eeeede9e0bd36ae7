import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { openRestPetStore } from '../../../src/backends/rest/pet-store.ts';
import type { TlsFiles } from '../../../src/tls-files.ts';
import { createAuthority } from '../../support/authority.ts';
import { callWith } from '../../support/gateway.ts';
import { quiet } from '../../support/log.ts';
import { nodeStart } from '../../support/process.ts';

const authority = createAuthority();
const other = createAuthority();
afterAll(() => {
  authority[Symbol.dispose]();
  other[Symbol.dispose]();
});
const { caFile } = authority;
const service = authority.issue('IP:127.0.0.1');
const client = authority.issue('DNS:gateway.example');
const stranger = other.issue('DNS:gateway.example');

/** Starts a service with a certificate of the authority, and opens a store for it. */
async function startService(files: TlsFiles, options: ServerOptions = {}) {
  const server = createServer({ ...service, ...options }, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  const rest = { baseUrl, messagesBaseUrl: undefined, timeoutMs: 5000 };
  const petStore = openRestPetStore({ ...rest, ...files }, quiet);
  return {
    checkReady: () => petStore.checkReady(),
    reload: petStore.reload,
    list: async () => Array.from(await petStore.listPets(callWith('a'), {})),
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A service that requires a client certificate of the authority. */
const mutual = { requestCert: true, ca: authority.ca };

describe('a REST service with a certificate of a private authority', () => {
  it('is trusted with UPSTREAM_CA_FILE, also beside other authorities', async () => {
    const both = authority.write('both.pem', other.ca + authority.ca);
    for (const files of [{ caFile }, { caFile: both }]) {
      await using started = await startService(files);
      expect(await started.list()).toEqual([]);
      await started.checkReady();
    }
  });

  it.each([
    ['Node’s authorities', {}],
    ['another one', { caFile: other.caFile }],
  ])('is not trusted with %s', async (_, files) => {
    await using started = await startService(files);
    await expect(started.list()).rejects.toThrow('could not be reached');
    await expect(started.checkReady()).rejects.toThrow('could not be reached');
  });

  it('can require a client certificate', async () => {
    const { certFile, keyFile } = client;
    await using started = await startService({ caFile, certFile, keyFile }, mutual);
    expect(await started.list()).toEqual([]);
  });

  it('can require another client certificate, which is read again without a restart', async () => {
    const { certFile, keyFile } = client;
    await using started = await startService({ caFile }, mutual);
    await expect(started.list()).rejects.toThrow('closed the connection');
    const wrong = { caFile, certFile, keyFile: stranger.keyFile };
    expect(() => started.reload(wrong)).toThrow('UPSTREAM_KEY_FILE: expected the key');
    await expect(started.list()).rejects.toThrow('closed the connection');
    started.reload({ caFile, certFile, keyFile });
    expect(await started.list()).toEqual([]);
  });

  it.each([
    ['without a client certificate', {}],
    ['with one of another authority', { certFile: stranger.certFile, keyFile: stranger.keyFile }],
  ])('refuses calls %s if it requires one', async (_, files) => {
    await using started = await startService({ caFile, ...files }, mutual);
    await expect(started.list()).rejects.toMatchObject({ name: 'BackendUnavailableError' });
  });
});

describe('a PEM file that cannot be used', () => {
  const garbage = authority.write('garbage.pem', 'garbage');
  const { certFile, keyFile } = client;

  it.each([
    [
      { caFile: '/nowhere.pem' },
      'UPSTREAM_CA_FILE: expected certificates in PEM, in /nowhere.pem, found: ENOENT',
    ],
    [{ caFile: garbage }, `UPSTREAM_CA_FILE: expected certificates in PEM, in ${garbage}, found: `],
    [
      { certFile: garbage, keyFile },
      `UPSTREAM_CERT_FILE: expected a certificate in PEM, in ${garbage}`,
    ],
    [{ certFile, keyFile: garbage }, 'UPSTREAM_KEY_FILE: expected the key of UPSTREAM_CERT_FILE'],
    [{ certFile, keyFile: stranger.keyFile }, 'UPSTREAM_KEY_FILE: expected the key'],
  ])('is refused: %j', (files, message) => {
    const rest = { messagesBaseUrl: undefined, timeoutMs: 5000 };
    const baseUrl = new URL('https://pets.example/v1');
    expect(() => openRestPetStore({ ...rest, baseUrl, ...files }, quiet)).toThrow(message);
  });

  it('stops the start', async () => {
    const env = { PETSTORE_BASE_URL: 'https://pets.example/v1', UPSTREAM_CA_FILE: garbage };
    await using started = await nodeStart(env);
    expect(await started.exited).toBe(1);
    expect(started.output.stderr).toContain(
      `UPSTREAM_CA_FILE: expected certificates in PEM, in ${garbage}`,
    );
  });
});
