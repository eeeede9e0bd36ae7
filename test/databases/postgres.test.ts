import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import type { WriteKey } from '../../src/contract/caller.ts';
import { openAdministration, openPetStore } from '../../src/petstore/open.ts';
import { startAddress } from '../support/address.ts';
import { openDatabase } from '../support/database.ts';
import { describeOnEveryDatabase } from '../support/databases.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { apiKey, callWith, openBuiltin, openGateway, openKeys } from '../support/gateway.ts';
import { withKey } from '../support/graphql.ts';
import { openTelemetry, quiet } from '../support/log.ts';
import { valuesOf } from '../support/metrics.ts';
import { connectTo, nameOf, query, startPostgres } from '../support/postgres.ts';
import { addPet, rex } from '../support/writes.ts';

type Address = Awaited<ReturnType<typeof startAddress>>;

/** Lets inserts of pets take a while, until they are cancelled. */
async function slowWrites(url: string) {
  const other = await connectTo(url);
  await other.query(`
    create function wait() returns trigger language plpgsql as
      $$ begin perform pg_sleep(60); return new; end $$;
    create trigger slow before insert on pets for each row execute function wait()`);
  const sleeping =
    "from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
  return {
    /** Resolves when this many are running. */
    running: (count: number) =>
      vi.waitFor(async () => {
        expect((await other.query(`select pid ${sleeping}`)).rowCount).toBe(count);
      }, 10_000),
    cancel: () => other.query(`select pg_cancel_backend(pid) ${sleeping}`),
    [Symbol.asyncDispose]: () => other[Symbol.asyncDispose](),
  };
}

describeOnEveryDatabase('a list of many pets', (createDatabase) => {
  it('uses an index, with and without a filter', async () => {
    const databaseUrl = await createDatabase();
    await using administration = await openAdministration(databaseUrl, quiet.log);
    const statuses = ['available', 'pending', 'sold'];
    async function* lines() {
      for (let index = 0; index < 20_000; index++) {
        yield Buffer.from(`{"name":"p","categoryId":1,"status":"${statuses[index % 3]}"}`);
      }
    }
    await administration.importLines('pets', lines());
    const database = await openDatabase(databaseUrl, quiet.log);
    const isPostgres = databaseUrl.startsWith('postgres');
    if (isPostgres) await sql`analyze pets`.execute(database);
    const planOf = async (query: string) => {
      const explain = isPostgres ? 'explain' : 'explain query plan';
      const { rows } = await sql.raw(`${explain} ${query}`).execute(database);
      return rows.map((row) => Object.values(row as object).join(' ')).join('\n');
    };
    const list = await planOf('select * from pets order by id limit 20');
    const filter = await planOf("select * from pets where status = 'sold' order by id limit 20");
    await database.destroy();
    expect(list).toMatch(isPostgres ? /Index Scan using pets_pkey/ : /^\S+ \S+ \S+ SCAN pets$/);
    expect(filter).toMatch(/pets_by_status|pets_pkey/);
    for (const plan of [list, filter]) expect(plan).not.toMatch(/Seq Scan|Sort|TEMP B-TREE/);
  });
});

const postgres = disposeAfterAll(await startPostgres());

/** Lets commits wait for a standby that is missing, until it is disposed. */
async function waitingCommits(url: string) {
  const other = await connectTo(url);
  const set = async (change: string) => {
    await other.query(`alter system ${change}`);
    await other.query('select pg_reload_conf()');
  };
  await set("set synchronous_standby_names = 'missing'");
  await vi.waitFor(async () => {
    const { rows } = await other.query('show synchronous_standby_names');
    expect(rows).toEqual([{ synchronous_standby_names: 'missing' }]);
  });
  return {
    /** Resolves when this many wait. */
    count: (count: number) =>
      vi.waitFor(async () => {
        const { rowCount } = await other.query(
          "select from pg_stat_activity where wait_event = 'SyncRep' and datname = current_database()",
        );
        expect(rowCount).toBe(count);
      }, 10_000),
    async [Symbol.asyncDispose]() {
      await set('reset synchronous_standby_names');
      await other.end();
    },
  };
}

/** Opens a store in a new database. */
async function openStore(options: Parameters<typeof openBuiltin>[1] = {}) {
  const url = await postgres.createDatabase();
  return { ...(await openBuiltin(url, options)), url };
}

/** Returns how many pets with the name Rex are stored. */
async function countRex(store: Awaited<ReturnType<typeof openBuiltin>>) {
  const pets = [...(await store.listPets(callWith(), { limit: 100 }))];
  return pets.filter(({ name }) => name === 'Rex').length;
}

describe('PostgreSQL', () => {
  it('ends a write with a key as soon as one without when its commit does not respond', async () => {
    await using store = await openStore();
    await using _commits = await waitingCommits(store.url);
    const endedAt = async (write?: WriteKey) => {
      const add = store.createPet(callWith(), rex, write);
      await expect(add).rejects.toMatchObject({ writeOutcome: 'UNKNOWN' });
      return performance.now();
    };
    const [plain, keyed] = await Promise.all([endedAt(), endedAt({ id: 'a', fingerprint: '' })]);
    expect(keyed - plain).toBeLessThan(3500);
  });

  it.each([1, 10])('reports an unknown outcome while commits wait, of %d', async (poolSize) => {
    await using store = await openStore({ poolSize });
    const write = { id: 'a', fingerprint: '' };
    const add = (caller = callWith()) => store.createPet(caller, rex, write);
    {
      await using commits = await waitingCommits(store.url);
      const left = callWith();
      const first = add(left);
      await commits.count(1);
      left.cancel();
      await expect(first).rejects.toMatchObject({ writeOutcome: 'UNKNOWN' });
      const presses = await Promise.allSettled(Array.from({ length: 10 }, () => add()));
      const failures = presses.map((press) => (press.status === 'rejected' ? press.reason : {}));
      expect(failures.map(({ writeOutcome }) => writeOutcome)).toEqual(Array(10).fill('UNKNOWN'));
      for (const { message } of failures) expect(message).not.toContain('Nothing was stored');
    }
    await vi.waitFor(add, 10_000);
    expect(await countRex(store)).toBe(1);
  });

  it('reports that nothing was stored if the server became read-only', async () => {
    await using store = await openStore();
    const { url } = store;
    await query(
      url,
      `alter database ${nameOf(url)} set default_transaction_read_only = on;
       select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'petstore-gateway'`,
    );
    const add = () => store.createPet(callWith(), rex);
    await vi.waitFor(() =>
      expect(add()).rejects.toMatchObject({
        writeOutcome: 'NOT_DONE',
        message: "The store's database is read-only. Nothing was stored. Try again later.",
      }),
    );
    expect([...(await store.listPets(callWith(), {}))]).toHaveLength(12);
  });

  it('leaves a server that a failover has made read-only after one refused write', async () => {
    await using store = await openStore();
    const { url } = store;
    const add = () => store.createPet(callWith(), rex);
    const addMany = () => Promise.all(Array.from({ length: 8 }, add));
    await addMany();
    await using other = await connectTo(url);
    await using cleanup = new AsyncDisposableStack();
    // New sessions write, as those of another server would.
    await other.query(`alter database ${nameOf(url)} set default_transaction_read_only = off`);
    const setOnServer = async (change: string) => {
      await other.query(`alter system ${change}`);
      await other.query('select pg_reload_conf()');
    };
    await setOnServer('set default_transaction_read_only = on');
    cleanup.defer(() => setOnServer('reset default_transaction_read_only'));
    await vi.waitFor(() => expect(add()).rejects.toThrow('is read-only. Nothing was stored.'));
    expect(await addMany()).toHaveLength(8);
  });

  it('reports an unknown outcome and does not retry if the response to a write is lost', async () => {
    await using address = await startAddress(await postgres.createDatabase());
    await using store = await openBuiltin(address.url);
    const { send, pass } = address;
    address.send = (bytes, service, client) => {
      // The first bytes after the insert are its result, so it has been committed.
      if (bytes.includes('insert into "pets"')) address.pass = () => client.destroy();
      else address.pass = pass;
      return send(bytes, service, client);
    };
    const lost = { name: 'BackendUnavailableError', writeOutcome: 'UNKNOWN' };
    await expect(addPet(store, undefined)).rejects.toMatchObject(lost);
    // The pet was stored once, and the store uses a new connection.
    expect(await countRex(store)).toBe(1);
  });

  it('ends a call at its deadline, or when its client leaves, while the key is checked', async () => {
    await using store = await openStore();
    await using other = await connectTo(store.url);
    await other.query('begin; lock table api_keys in access exclusive mode');
    const [late, left] = [callWith('one'), callWith('two')];
    late.setDeadline(200);
    const timeout = { name: 'BackendTimeoutError', writeOutcome: 'NOT_DONE' };
    const cancelled = { name: 'CancelledError' };
    const calls = Promise.all([
      expect(store.listPets(late, {})).rejects.toMatchObject(timeout),
      expect(store.createPet(late, rex)).rejects.toMatchObject(timeout),
      expect(store.listPets(left, {})).rejects.toMatchObject(cancelled),
    ]);
    left.cancel();
    await calls;
    await expect(store.listPets(left, {})).rejects.toMatchObject(cancelled);
  });

  it('keeps the place of a request while a query goes on after its deadline or for a client that left', async () => {
    const url = await postgres.createDatabase();
    await using opened = await openGateway({ petStore: await openBuiltin(url) });
    await using slow = await slowWrites(url);
    const used = async () =>
      (await valuesOf(opened.metrics, 'petstore_limit_used', 'limit'))['requests'];
    const write = 'mutation { addPet(input: { name: "Rex", categoryId: "1" }) { id } }';
    const leaving = new AbortController();
    const left = opened.execute(write, {}, { ...withKey, signal: leaving.signal });
    const late = opened.execute(write, {}, { ...withKey, timeoutMs: 2000 });
    await slow.running(2);
    leaving.abort();
    const unknown = { errors: [{ extensions: { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN' } }] };
    expect(await late).toMatchObject(unknown);
    expect(await left).toMatchObject({ errors: [{ extensions: { outcome: 'UNKNOWN' } }] });
    // Nothing goes on of one that had left before.
    await opened.execute(write, {}, { ...withKey, signal: AbortSignal.abort() });
    expect(await used()).toBe(2);
    await slow.cancel();
    await vi.waitFor(async () => expect(await used()).toBeUndefined(), 10_000);
  });

  it('sends nothing for clients that left while they waited for a connection', async () => {
    const url = await postgres.createDatabase();
    await using administration = await openAdministration(url, quiet.log);
    await administration.keys.createAccount('acme');
    const { id, key } = await administration.keys.create('acme');
    await administration.keys.revoke(id);
    const telemetry = openTelemetry();
    const options = { databaseUrl: url, demoKey: apiKey, timeoutMs: 10_000, poolSize: 1 };
    await using store = await openPetStore({ kind: 'builtin', ...options }, telemetry, openKeys());
    await using slow = await slowWrites(url);
    const first = store.createPet(callWith(), { name: 'First', categoryId: '1' });
    const cancelled = expect(first).rejects.toThrow('is busy');
    await slow.running(1);
    const leaving = [callWith(), callWith(key)];
    const whenCancelled = leaving.map((caller) => vi.spyOn(caller, 'whenCancelled'));
    const left = leaving.map((caller) =>
      expect(store.createPet(caller, rex)).rejects.toMatchObject({ name: 'CancelledError' }),
    );
    // For its key, a turn, the connection and its place in the queue; and for the check of its key and
    // the place that it needs.
    await vi.waitFor(() => {
      expect(whenCancelled.map(({ mock }) => mock.calls.length)).toEqual([4, 2]);
    });
    // Only what is sent needs a connection.
    const invalid = store.createPet(callWith(), { name: 'x'.repeat(2000), categoryId: '1' });
    await expect(invalid).rejects.toMatchObject({ status: 400 });
    for (const caller of leaving) caller.cancel();
    await Promise.all(left);
    await slow.cancel();
    await cancelled;
    const pets = [...(await store.listPets(callWith(), { limit: 100 }))];
    expect(pets.filter(({ name }) => name === 'Rex')).toEqual([]);
    expect(telemetry.lines.join('')).not.toContain('API key refused');
  });

  it('ends a statement after five seconds', async () => {
    const database = await openDatabase(await postgres.createDatabase(), quiet.log);
    const { rows } = await sql`show statement_timeout`.execute(database);
    expect(rows).toEqual([{ statement_timeout: '5s' }]);
    await database.destroy();
  });

  it('does a write again if the gateway that began it stops in its transaction', async () => {
    await using store = await openStore();
    const other = await openDatabase(store.url, quiet.log);
    const id = hash('sha256', `${apiKey} a`, 'base64url');
    const row = { id, fingerprint: '', record: '{}', created_at: new Date().toISOString() };
    const add = () => store.createPet(callWith(), rex, { id: 'a', fingerprint: '' });
    const stopped = other.transaction().execute(async (transaction) => {
      await transaction.insertInto('writes').values(row).execute();
      await vi.waitFor(async () => expect((await add()).name).toBe('Rex'));
    });
    await expect(stopped).rejects.toThrow('connection');
    await other.destroy();
  });

  it('does not wait for another session to remove expired writes', async () => {
    await using store = await openStore();
    await using other = await connectTo(store.url);
    await other.query(
      "insert into writes select n, '', '{}', '2020-01-01' from generate_series(1, 3) n",
    );
    await other.query("begin; select * from writes where id = '2' for update");
    const write = { id: 'a', fingerprint: '' };
    await store.createPet(callWith(), rex, write);
    const kept = await other.query("select id from writes where record = '{}'");
    expect(kept.rows).toEqual([{ id: '2' }]);
  });

  it('assigns other ids while an import locks the next ones', async () => {
    await using store = await openStore();
    const databaseUrl = store.url;
    const add = (write?: WriteKey) => store.createPet(callWith(), rex, write);
    const [first] = await Promise.all([add(), add(), add()]);
    const database = await openDatabase(databaseUrl, quiet.log);
    await database.transaction().execute(async (transaction) => {
      for (let next = 1n; next <= 320n; next++) {
        const row = { id: BigInt(first.id) + next, name: 'imported', category_id: 1n };
        const insert = transaction.insertInto('pets').values(row);
        await insert.onConflict((conflict) => conflict.doNothing()).execute();
      }
      await sql`select setval('pets_id_seq', 1000)`.execute(transaction);
      const keyed = (_: unknown, index: number) => add({ id: `${index}`, fingerprint: '' });
      const added = await Promise.all(Array.from({ length: 15 }, keyed));
      added.push(...(await Promise.all(Array.from({ length: 15 }, () => add()))));
      for (const pet of added) expect(BigInt(pet.id)).toBeGreaterThan(1000n);
      expect(await store.listPets(callWith(), { limit: 100 })).toHaveLength(45);
    });
    await database.destroy();
  });

  it.each([
    ['it cannot be reached', (address: Address) => address[Symbol.asyncDispose]()],
    ['a load balancer without a primary hangs up', (address: Address) => address.hangUp()],
  ])('reports that nothing was stored if %s', async (_, end) => {
    await using address = await startAddress(await postgres.createDatabase());
    await using store = await openBuiltin(address.url);
    await end(address);
    const notStored = /cannot be reached\. Nothing was stored\. Try again later\.$/;
    await vi.waitFor(() => expect(addPet(store, undefined)).rejects.toThrow(notStored));
  });

  it.each([2, undefined])('has at most DATABASE_POOL_SIZE connections: %s', async (poolSize) => {
    const databaseUrl = await postgres.createDatabase();
    await using store = await openBuiltin(databaseUrl, poolSize ? { poolSize } : {});
    await using slow = await slowWrites(databaseUrl);
    // One key leaves a quarter of them to others.
    const callers = Array.from({ length: 20 }, (_, index) =>
      callWith(index % 2 ? 'demo-key' : 'demo-empty'),
    );
    const written = Promise.allSettled(callers.map((caller) => store.createPet(caller, rex)));
    await slow.running(poolSize ?? 10);
    const rows = await query(
      databaseUrl,
      "select count(*)::int as used from pg_stat_activity where datname = current_database() and application_name = 'petstore-gateway'",
    );
    expect(rows).toEqual([{ used: poolSize ?? 10 }]);
    // Those that wait are not sent.
    for (const caller of callers) caller.cancel();
    await slow.cancel();
    await written;
  });

  it('keeps its password out of the error if it cannot be opened', async () => {
    const url = 'postgres://postgres:hunter2@127.0.0.1:1/none';
    await expect(openBuiltin(url)).rejects.toThrow(/127\.0\.0\.1:1\/none cannot be opened/);
    await expect(openBuiltin(url)).rejects.toThrow(/^(?!.*hunter2)/);
    await expect(openBuiltin(url.replace('r2', 'r\n2'))).rejects.toThrow(/^(?!.*hunter)/s);
  });
});
