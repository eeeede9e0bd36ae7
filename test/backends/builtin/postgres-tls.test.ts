import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callWith, openBuiltin } from '../../support/gateway.ts';
import { startPostgres } from '../../support/postgres.ts';

let folder: string;
let postgres: Awaited<ReturnType<typeof startPostgres>>;

/** Creates a key and a self-signed certificate for a host. */
async function createCertificate(name: string, host: string) {
  const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  execFileSync('openssl', [...request, '-nodes', '-keyout', key, '-out', certificate, ...subject], {
    stdio: 'ignore',
  });
  return { path: certificate, key: await readFile(key, 'utf8') };
}

let trusted: string;
let other: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pet-store-tls-'));
  const server = await createCertificate('server', 'localhost');
  trusted = server.path;
  other = (await createCertificate('other', 'localhost')).path;
  // PostgreSQL resolves the paths of certificates from its data directory, and that of hba_file from
  // the parent directory.
  postgres = await startPostgres(
    {
      ssl: 'on',
      ssl_cert_file: '../server.crt',
      ssl_key_file: '../server.key',
      hba_file: 'hba.conf',
    },
    {
      'server.crt': await readFile(server.path, 'utf8'),
      'server.key': server.key,
      'hba.conf':
        'hostssl all petstore 127.0.0.1/32 password\nhost all postgres 127.0.0.1/32 password\n',
    },
  );
}, 60_000);
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe('TLS to PostgreSQL', () => {
  /** Creates a database for a role that may only connect over TLS. */
  async function databaseUrl(host: string, parameters: Record<string, string>): Promise<string> {
    const url = new URL(await postgres.createDatabase('petstore'));
    url.hostname = host;
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  it('is established with sslmode=verify-full and the certificate authority of the server', async () => {
    const parameters = { sslmode: 'verify-full', sslrootcert: trusted };
    await using store = await openBuiltin(await databaseUrl('localhost', parameters));
    expect(await store.listPets(callWith(), { limit: 1 })).toHaveLength(1);
  });

  it.each([
    ['no TLS', 'localhost', () => ({}), /no encryption/],
    [
      'another certificate authority',
      'localhost',
      () => ({ sslrootcert: other }),
      /self-signed certificate/,
    ],
    ['another host name', '127.0.0.1', () => ({ sslrootcert: trusted }), /does not match/],
  ])('fails with %s', async (_, host, trust, reason) => {
    const parameters = trust();
    const mode = 'sslrootcert' in parameters ? { sslmode: 'verify-full' } : {};
    await expect(
      databaseUrl(host, { ...mode, ...parameters }).then((url) => openBuiltin(url)),
    ).rejects.toThrow(reason);
  });
});
