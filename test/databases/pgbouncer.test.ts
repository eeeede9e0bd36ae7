import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openAdministration, openPetStore } from '../../src/petstore/open.ts';
import { startAddress } from '../support/address.ts';
import { callWith, openBuiltin, openKeys } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { connectTo, nameOf, query, startPostgres } from '../support/postgres.ts';
import { rex } from '../support/writes.ts';
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts';

if (!hasPgBouncer) process.stdout.write('PgBouncer tests are SKIPPED: install pgbouncer.\n');

describe.skipIf(!hasPgBouncer)('behind PgBouncer in transaction mode', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let bouncer: Awaited<ReturnType<typeof startPgBouncer>>;
  beforeAll(async () => {
    postgres = await startPostgres();
    bouncer = await startPgBouncer(await postgres.createDatabase(), 'transaction');
  });
  afterAll(async () => {
    await bouncer[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  it('migrates once if many start at the same time, and keeps no lock', async () => {
    const url = await postgres.createDatabase();
    const opening = Array.from({ length: 10 }, () => openBuiltin(bouncer.behind(url)));
    const stores = await Promise.all(opening);
    const list = (store: (typeof stores)[number]) =>
      store.listPets(callWith(undefined, undefined, store.keys), {});
    const lists = await Promise.all(stores.map(list));
    expect(lists.map((pets) => [...pets].length)).toEqual(Array(10).fill(12));
    expect(await query(url, "select * from pg_locks where locktype = 'advisory'")).toEqual([]);
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  it('keeps no lock after a migration that fails', async () => {
    const url = await postgres.createDatabase();
    await query(url, 'create table pets (id text)');
    await expect(openBuiltin(bouncer.behind(url))).rejects.toThrow('"pets" already exists');
    expect(await query(url, "select * from pg_locks where locktype = 'advisory'")).toEqual([]);
    await query(url, 'drop table pets');
    await using store = await openBuiltin(bouncer.behind(url));
    expect((await store.createPet(callWith(), rex)).name).toBe('Rex');
  });

  it('does each write with a key once', async () => {
    const url = await postgres.createDatabase();
    await using store = await openBuiltin(bouncer.behind(url));
    const write = (index: number) => ({ id: `${index % 5}`, fingerprint: '' });
    const add = (_: unknown, index: number) =>
      store.createPet(callWith(), rex, index < 15 ? undefined : write(index));
    const added = await Promise.all(Array.from({ length: 30 }, add));
    // Fifteen writes without a key, and five with one that are repeated.
    expect(new Set(added.map(({ id }) => id)).size).toBe(15 + 5);
  });

  it('reports that nothing was stored if another session locks an id for too long', async () => {
    const url = await postgres.createDatabase();
    // As docs/built-in-backend.md has it for the role.
    await query(url, `alter database ${nameOf(url)} set lock_timeout = '100ms'`);
    await using store = await openBuiltin(bouncer.behind(url));
    const { id } = await store.createPet(callWith(), rex);
    await using other = await connectTo(url);
    await other.query('begin');
    await other.query(
      `insert into pets (id, name, category_id) select ${id} + n, 'locked', 1 from generate_series(1, 5000) n on conflict do nothing`,
    );
    await expect(store.createPet(callWith(), rex)).rejects.toThrow(
      /is busy\. Nothing was stored\. Try again later\.$/,
    );
    await other.query('rollback');
    expect((await store.createPet(callWith(), rex)).name).toBe('Rex');
  });

  it('reports that nothing was stored of a write that waited too long for a connection of PgBouncer', async () => {
    const url = await postgres.createDatabase();
    const own = { query_wait_timeout: '1', default_pool_size: '1' };
    await using proxy = await startPgBouncer(url, 'transaction', own);
    await using store = await openBuiltin(proxy.behind(url));
    await using other = await connectTo(proxy.behind(url));
    await other.query('begin');
    const add = () => store.createPet(callWith(), rex);
    await expect(add()).rejects.toMatchObject({
      writeOutcome: 'NOT_DONE',
      message: "The store's database cannot be reached. Nothing was stored. Try again later.",
    });
    await other.query('rollback');
    expect((await add()).name).toBe('Rex');
  });

  it('sends a write again that met the end of a connection, which was idle for PgBouncer', async () => {
    const url = await postgres.createDatabase();
    await using proxy = await startPgBouncer(url, 'transaction', { client_idle_timeout: '1' });
    const ended = Promise.withResolvers<void>();
    await using address = await startAddress(proxy.behind(url));
    address.pass = (bytes, client) => {
      if (!bytes.includes('client_idle_timeout')) return client.write(bytes);
      // The end arrives once the gateway has sent its next statement.
      client.once('data', () => client.end(bytes));
      return ended.resolve();
    };
    await using store = await openBuiltin(address.url, { poolSize: 1 });
    await ended.promise;
    await store.createPet(callWith(), rex);
    const pets = [...(await store.listPets(callWith(), { limit: 100 }))];
    expect(pets.filter(({ name }) => name === 'Rex')).toHaveLength(1);
  });

  it('reports that the database cannot be reached while PostgreSQL is down, and recovers', async () => {
    await using store = await openBuiltin(bouncer.behind(await postgres.createDatabase()));
    await postgres.stop();
    try {
      const message = /^The store's database cannot be reached\./;
      await expect(store.listPets(callWith(), {})).rejects.toThrow(message);
      const notDone = { message: expect.stringMatching(message), writeOutcome: 'NOT_DONE' };
      await expect(store.createPet(callWith(), rex)).rejects.toMatchObject(notDone);
    } finally {
      await postgres.start();
    }
    await vi.waitFor(() => store.createPet(callWith(), rex), { timeout: 60_000, interval: 500 });
    expect([...(await store.listPets(callWith(), {}))]).toHaveLength(13);
  });

  it('sends statements again that PgBouncer has refused during a short restart of PostgreSQL', async () => {
    const url = bouncer.behind(await postgres.createDatabase());
    await using store = await openBuiltin(url);
    await postgres.stop();
    async function restart() {
      const refused = () => expect(query(url, 'select 1')).rejects.toThrow('server_login_retry');
      await vi.waitFor(refused, { timeout: 20_000, interval: 100 }).finally(postgres.start);
    }
    const [pet, pets] = await Promise.all([
      store.createPet(callWith(), rex),
      store.listPets(callWith(), {}),
      restart(),
    ]);
    expect(pet.name).toBe('Rex');
    expect([...pets].length).toBeGreaterThanOrEqual(12);
  }, 60_000);

  it.each([
    'transaction',
    'session',
  ] as const)('manages keys, imports and exports in %s mode, beside writers', async (poolMode) => {
    const own = await postgres.createDatabase();
    // As docs/built-in-backend.md has it for the role, but shorter than the input pauses.
    const idle = "idle_in_transaction_session_timeout = '1s'";
    await query(own, `alter database ${nameOf(own)} set ${idle}`);
    await using proxy = await startPgBouncer(own, poolMode);
    const url = proxy.behind(own);
    await using administration = await openAdministration(url, quiet.log);
    const { keys } = administration;
    await keys.createAccount('acme');
    const { id } = await keys.create('acme');
    const { key } = await keys.rotate(id, 60_000);
    await using store = await openPetStore(
      { kind: 'builtin', databaseUrl: url, demoKey: undefined, timeoutMs: 10_000, poolSize: 1 },
      quiet,
      openKeys(),
    );
    await store.createPet(callWith(key), rex);
    async function* lines() {
      for (let line = 0; line < 3000; line++) {
        // Another transaction, and a pause, before each statement of the import.
        if (line % 1000 === 999) {
          await store.createPet(callWith(key), rex);
          await query(own, 'select pg_sleep(1.2)');
        }
        yield Buffer.from(`{"id":${5000 + line},"name":"a","categoryId":1}`);
      }
    }
    expect(await administration.importLines('pets', lines())).toBe(3000);
    expect(await Array.fromAsync(administration.exportLines('pets'))).toHaveLength(3004);
    // The pooled sessions keep no table.
    await expect(query(url, 'select * from staged')).rejects.toThrow('does not exist');
  });
});
