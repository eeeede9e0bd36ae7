import { describe, expect, it } from 'vitest';
import { startAddress } from '../support/address.ts';
import { createPostgresDatabase } from '../support/databases.ts';
import { callWith, openBuiltin, openGateway } from '../support/gateway.ts';
import { withKey } from '../support/graphql.ts';
import { nameOf, query } from '../support/postgres.ts';

describe('PostgreSQL that refuses a statement', () => {
  const refuseRex = "alter table pets add constraint mine check (name <> 'Rex')";
  const exhaust = "alter table pets alter id set maxvalue 400; select setval('pets_id_seq', 400)";

  it.each([
    ['a missing privilege', 'revoke insert on pets from owner'],
    ['a dropped table', 'drop table pets'],
    ['an exhausted sequence', exhaust],
    ['a constraint of another program', refuseRex],
  ])('reports that nothing was stored because of %s', async (_, spoil) => {
    const url = await createPostgresDatabase('owner');
    await using store = await openBuiltin(url);
    await query(url, `${spoil}; revoke select on orders from owner`);
    await using gateway = await openGateway({ petStore: store });
    const add = 'mutation { addPet(input: { name: "Rex", categoryId: "1" }) { id } }';
    const { errors } = await gateway.execute(add, {}, withKey);
    const extensions = { code: 'INTERNAL_SERVER_ERROR', outcome: 'NOT_DONE' };
    expect(errors).toMatchObject([{ extensions }]);
    expect(gateway.logged).toHaveLength(1);
    const reading = store.listOrders(callWith());
    await expect(reading).rejects.toMatchObject({ name: 'RefusedStatementError' });
  });

  it.each([
    ['08006', 'UNKNOWN'],
    ['57P01', 'UNKNOWN'],
    ['40003', 'UNKNOWN'],
    ['58030', 'NOT_DONE'],
    ['XX001', 'NOT_DONE'],
  ])('reports after SQLSTATE %s that the outcome is %s', async (code, writeOutcome) => {
    const url = await createPostgresDatabase();
    await using store = await openBuiltin(url);
    await query(
      url,
      `create function fail() returns trigger language plpgsql as
         $$ begin raise sqlstate '${code}'; end $$;
       create trigger fail before insert on pets for each row execute function fail()`,
    );
    const add = store.createPet(callWith(), { name: 'Rex', categoryId: '1' });
    await expect(add).rejects.toMatchObject({ writeOutcome });
  });

  it('reports an unknown outcome after a PANIC, at which the commit may be in the log already', async () => {
    const url = await createPostgresDatabase();
    await (await openBuiltin(url))[Symbol.asyncDispose]();
    await query(url, refuseRex);
    await using address = await startAddress(url);
    address.pass = (chunk, client) =>
      client.write(chunk.toString('latin1').replaceAll('ERROR\0', 'PANIC\0'), 'latin1');
    await using store = await openBuiltin(address.url);
    const add = store.createPet(callWith(), { name: 'Rex', categoryId: '1' });
    await expect(add).rejects.not.toMatchObject({ writeOutcome: 'NOT_DONE' });
  });

  it.each(['LATIN1', 'SQL_ASCII'])('refuses a database in %s', async (encoding) => {
    const url = await createPostgresDatabase();
    const other = `${url}_${encoding.toLowerCase()}`;
    const options = `encoding '${encoding}' locale 'C' template template0`;
    await query(url, `create database ${nameOf(other)} ${options}`);
    await expect(openBuiltin(other)).rejects.toThrow(
      `expected the encoding UTF8, found ${encoding}`,
    );
    expect(await query(other, "select from pg_tables where schemaname = 'public'")).toEqual([]);
  });

  it('shows the grant that a role without CREATE on its schema needs', async () => {
    const owned = await createPostgresDatabase();
    await createPostgresDatabase('new-shop');
    await query(
      owned,
      `create schema "my pets"; grant usage on schema "my pets" to "new-shop";
       alter database ${nameOf(owned)} set search_path = "my pets"`,
    );
    const url = owned.replace('//postgres', '//new-shop');
    const grant = 'grant create on schema "my pets" to "new-shop"';
    await expect(openBuiltin(url)).rejects.toThrow(
      `cannot be opened: permission denied for schema my pets. Its owner can run: ${grant}`,
    );
    await query(owned, grant);
    await using store = await openBuiltin(url);
    expect([...(await store.listPets(callWith(), {}))]).toHaveLength(12);
  });

  it('shows no grant if a table belongs to another role', async () => {
    const owned = await createPostgresDatabase();
    await (await openBuiltin(owned))[Symbol.asyncDispose]();
    await createPostgresDatabase('new-shop');
    const opening = openBuiltin(owned.replace('//postgres', '//new-shop'));
    await expect(opening).rejects.toThrow(/cannot be opened: permission denied for table \w+$/);
  });
});

describe('a schema of PostgreSQL', () => {
  /** Creates a schema, and returns the URL of its sessions. */
  async function createSchema(url: string, name: string, others = ''): Promise<string> {
    await query(url, `create schema ${name}`);
    return `${url}?options=-c%20search_path%3D${name}${others}`;
  }
  const pets = async (url: string) => {
    await using store = await openBuiltin(url);
    await store.createPet(callWith(), { name: 'Rex', categoryId: '1' });
    return [...(await store.listPets(callWith(), {}))].length;
  };
  const foreign = 'kysely_migration (name text primary key, timestamp text not null)';

  it('has the tables of its own gateways', async () => {
    const url = await createPostgresDatabase();
    const [one, other] = [await createSchema(url, 'one'), await createSchema(url, 'other')];
    expect([await pets(one), await pets(other), await pets(one)]).toEqual([13, 13, 14]);
    // The tables of the path, also once a schema before theirs exists.
    expect(await pets(url)).toBe(13);
    await query(url, 'create schema postgres');
    expect(await pets(url)).toBe(14);
  });

  it('may stand beside another application of Kysely', async () => {
    const url = await createPostgresDatabase();
    await query(url, `create table ${foreign}; create table kysely_migration_lock (id text)`);
    expect(await pets(await createSchema(url, 'shop', ',public'))).toBe(13);
  });

  it('is refused if another application of Kysely has migrated it', async () => {
    const url = await createPostgresDatabase();
    await query(
      url,
      `create table ${foreign}; insert into kysely_migration values ('001', '2026')`,
    );
    await expect(openBuiltin(url)).rejects.toThrow(
      /kysely_migration is of another application, which has run 001\. Use another schema/,
    );
  });
});
