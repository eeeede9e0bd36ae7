import { describe, expect, it } from 'vitest';
import { createAuthority } from '../support/authority.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { callWith, openBuiltin } from '../support/gateway.ts';
import { startPostgres } from '../support/postgres.ts';
import { runCommand } from '../support/process.ts';

const authority = disposeAfterAll(createAuthority());
const other = disposeAfterAll(createAuthority());
const server = authority.issue('DNS:localhost');
const hba_file = 'hba.conf';
// PostgreSQL resolves the paths of certificates from its data directory, and that of hba_file from
// the parent directory.
const postgres = disposeAfterAll(
  await startPostgres(
    { ssl: 'on', ssl_cert_file: '../server.crt', ssl_key_file: '../server.key', hba_file },
    {
      'server.crt': server.cert,
      'server.key': server.key,
      [hba_file]:
        'hostssl all petstore 127.0.0.1/32 password\nhost all postgres 127.0.0.1/32 password\n',
    },
  ),
);

describe('TLS to PostgreSQL', () => {
  /** Creates a database for a role that may only connect over TLS. */
  async function databaseUrl(host: string, parameters: Record<string, string>): Promise<string> {
    const url = new URL(await postgres.createDatabase('petstore'));
    url.hostname = host;
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  it('is established with sslmode=verify-full and the certificate authority of the server', async () => {
    const parameters = { sslmode: 'verify-full', sslrootcert: authority.caFile };
    await using store = await openBuiltin(await databaseUrl('localhost', parameters));
    expect(await store.listPets(callWith(), { limit: 1 })).toHaveLength(1);
  });

  it('trusts the authorities of Node with `sslrootcert=system`, and checks the host name', async () => {
    const system = { sslrootcert: 'system' };
    const url = await databaseUrl('localhost', system);
    await expect(openBuiltin(url)).rejects.toThrow('unable to verify the first certificate');
    const env = { NODE_EXTRA_CA_CERTS: authority.caFile };
    const migrate = (DATABASE_URL: string) => runCommand(['migrate'], { ...env, DATABASE_URL });
    expect(await migrate(url)).toMatchObject({ code: 0 });
    const other = await migrate(await databaseUrl('127.0.0.1', system));
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('does not match') });
  });

  it.each([
    ['no TLS', 'localhost', '', /no encryption/],
    ['another certificate authority', 'localhost', other.caFile, /unable to verify the first/],
    ['another host name', '127.0.0.1', authority.caFile, /does not match/],
  ])('fails with %s', async (_, host, sslrootcert, reason) => {
    const url = await databaseUrl(host, sslrootcert ? { sslmode: 'verify-full', sslrootcert } : {});
    await expect(openBuiltin(url)).rejects.toThrow(reason);
  });
});
