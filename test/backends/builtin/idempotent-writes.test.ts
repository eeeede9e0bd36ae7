import { type RawBuilder, sql } from 'kysely';
import { expect, it } from 'vitest';
import { ApiKeys } from '../../../src/keys/api-keys.ts';
import { openAdministration, openPetStore } from '../../../src/petstore/open.ts';
import {
  createPostgresDatabase,
  describeOnEveryDatabase,
  onDatabase,
} from '../../support/databases.ts';
import { callWith, openBuiltin, startGateway } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import { quiet } from '../../support/log.ts';
import { valuesOf } from '../../support/metrics.ts';
import { nodeStart } from '../../support/process.ts';
import { addPet } from '../../support/writes.ts';

const authorization = 'Bearer demo-key';
const json = 'application/json';

type Store = Awaited<ReturnType<typeof openBuiltin>>;

/** Adds a pet with an idempotency key. Returns its id, and whether it was added before. */
async function add(store: Store, idempotencyKey: string) {
  const caller = callWith(undefined, undefined, store.keys);
  const { id } = await addPet(store, idempotencyKey, caller);
  return [id, caller.isReplayed] as const;
}

const run = (url: string, ...statements: RawBuilder<unknown>[]) =>
  onDatabase(url, async (database) => {
    for (const statement of statements) await statement.execute(database);
  });

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

/** The names of all pets, with how often each is stored. */
async function countNames(url: string) {
  const rows = await onDatabase(url, (database) =>
    database.selectFrom('pets').select('name').execute(),
  );
  const names = Map.groupBy(rows, ({ name }) => String(name));
  return new Map(Array.from(names, ([name, all]) => [name, all.length]));
}

describeOnEveryDatabase('a write with an idempotency key', (createDatabase) => {
  it('is done once by two gateways that receive it 200 times, also after a restart', async () => {
    const url = await createDatabase();
    await using one = await openBuiltin(url);
    await using other = await openBuiltin(url);
    const added = await Promise.all(
      Array.from({ length: 200 }, (_, index) => add(index % 2 ? one : other, 'a')),
    );
    expect(added.filter(([, isReplayed]) => !isReplayed)).toHaveLength(1);
    expect(new Set(added.map(([id]) => id)).size).toBe(1);
    expect((await countNames(url)).get('Rex')).toBe(1);
    await using restarted = await openBuiltin(url);
    expect(await add(restarted, 'a')).toEqual([added[0]?.[0], true]);
  });

  it('is done if its transaction was not committed', async () => {
    const url = await createDatabase();
    await using store = await openBuiltin(url);
    await run(url, sql`alter table pets rename to moved`);
    await expect(add(store, 'a')).rejects.toMatchObject({ writeOutcome: 'NOT_DONE' });
    await run(url, sql`alter table moved rename to pets`);
    const [id, isReplayed] = await add(store, 'a');
    expect(isReplayed).toBe(false);
    expect(await add(store, 'a')).toEqual([id, true]);
  });

  it('is remembered for 24 hours, and removed a hundred at a time', async () => {
    const url = await createDatabase();
    await using store = await openBuiltin(url);
    const [first] = await add(store, 'old');
    const [second] = await add(store, 'young');
    await onDatabase(url, async (database) => {
      const all = database.selectFrom('writes').select('id');
      const writes = await all.orderBy('created_at').execute();
      const setTime = (id = '', created_at = '') =>
        database.updateTable('writes').set({ created_at }).where('id', '=', id).execute();
      await setTime(writes[0]?.id, hoursAgo(24.01));
      await setTime(writes[1]?.id, hoursAgo(23.99));
      const row = { fingerprint: '', record: '{}', created_at: hoursAgo(24.005) };
      const more = Array.from({ length: 249 }, (_, index) => ({ ...row, id: `${index}` }));
      await database.insertInto('writes').values(more).execute();
    });
    const kept: number[] = [];
    await using restarted = await openBuiltin(url);
    for (const key of ['1', '2', '3']) {
      await add(restarted, key);
      const rows = await onDatabase(url, (database) =>
        database.selectFrom('writes').select('id').execute(),
      );
      kept.push(rows.length);
    }
    expect(kept).toEqual([152, 53, 4]);
    expect(await add(restarted, 'young')).toEqual([second, true]);
    const [again, isReplayed] = await add(restarted, 'old');
    expect([again === first, isReplayed]).toEqual([false, false]);
  });

  it('is another one for another API key, also for one that replaces it', async () => {
    const url = await createDatabase();
    await using administration = await openAdministration(url, quiet.log);
    await administration.keys.createAccount('acme');
    const { id, key } = await administration.keys.create('acme');
    const rotated = await administration.keys.rotate(id, 60_000);
    const keys = new ApiKeys();
    const options = { databaseUrl: url, demoKey: undefined, timeoutMs: 10_000 };
    await using store = await openPetStore({ kind: 'builtin', ...options }, quiet, keys);
    for (const [name, isReplayed] of [
      [key, false],
      [rotated.key, false],
      [key, true],
    ] as const) {
      const caller = callWith(name, undefined, keys);
      await addPet(store, 'a', caller);
      expect(caller.isReplayed).toBe(isReplayed);
    }
    const stored = await onDatabase(url, (database) =>
      database.selectFrom('writes').selectAll().execute(),
    );
    expect(JSON.stringify(stored)).not.toContain(key);
  });

  it('is done once by a gateway that is killed and another one that gets it again; no acknowledged one is lost', async () => {
    const url = await createDatabase();
    const env = { DEMO: 'on', DATABASE_URL: url, MAX_EVENT_LOOP_LAG_MS: '60000' };
    await using killed = await nodeStart(env);
    await using other = await nodeStart(env);
    const acknowledged = new Map<string, string>();
    const post = async (gateway: string, name: string) => {
      const key = name.startsWith('keyed') && { 'idempotency-key': name };
      const headers = { authorization, 'content-type': json, ...key };
      const body = JSON.stringify({ name, categoryId: 1 });
      const response = await fetch(`${gateway}/v1/pets`, { method: 'POST', headers, body });
      expect(response.status).toBe(201);
      return response.text();
    };
    const names = Array.from(
      { length: 200 },
      (_, index) => `${index % 2 ? 'keyed' : 'pet'}-${index}`,
    );
    const waiting = [...names];
    const work = async () => {
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
        const text = await post(killed.url, name).catch(() => undefined);
        if (text === undefined) continue;
        acknowledged.set(name, text);
        if (acknowledged.size === 60) killed.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(acknowledged.size).toBeGreaterThan(59);
    expect(acknowledged.size).toBeLessThan(names.length);
    const before = await countNames(url);
    for (const name of acknowledged.keys()) expect(before.get(name), name).toBe(1);
    for (const name of names.filter((one) => one.startsWith('keyed'))) {
      const text = await post(other.url, name);
      expect(text).toBe(acknowledged.get(name) ?? text);
    }
    for (const count of (await countNames(url)).values()) expect(count).toBe(1);
  });

  it('is repeated in REST and GraphQL with a header that says so', async () => {
    await using service = await startGateway({
      petStore: await openBuiltin(await createDatabase()),
    });
    const { gateway, execute, metrics } = service;
    const post = async (key: string, body: string, path = '/v1/pets') => {
      const headers = { authorization, 'content-type': json, 'idempotency-key': key };
      const request = new Request(`${service.url}${path}`, { method: 'POST', headers, body });
      const response = await gateway(request);
      const replayed = response.headers.get('idempotent-replayed');
      return { status: response.status, replayed, text: await response.text() };
    };
    const first = await post('a', '{"name":"Rex","categoryId":9223372036854775807}');
    expect(first).toMatchObject({ status: 201, replayed: null });
    const spaced = '{ "categoryId": 9223372036854775807, "name": "Rex" }';
    expect(await post('"a"', spaced)).toEqual({ ...first, replayed: 'true' });
    const reused = await post('a', '{"name":"Rex","categoryId":9223372036854775806}');
    expect(reused).toMatchObject({ status: 422, replayed: null });
    expect(JSON.parse(reused.text).code).toBe('idempotency_key_reused');
    const malformed = await post('a b', '{"name":"Rex","categoryId":1}');
    expect([malformed.status, JSON.parse(malformed.text).code]).toEqual([400, 'bad_request']);
    const message = '{"message":"Hello"}';
    const sent = await post('a', message, '/quickstart/messages');
    const repeated = await post('a', message, '/quickstart/messages');
    expect(repeated).toEqual({ ...sent, replayed: 'true' });

    const mutation = (name: string) =>
      `addPet(input: { name: "${name}", categoryId: 1 }) { id name }`;
    const two = `mutation { one: ${mutation('One')} two: ${mutation('Two')} }`;
    const send = (document: string, key: string) =>
      postGraphQL(gateway, document, {}, { authorization, 'idempotency-key': key });
    const both = await send(two, 'g');
    expect(both.data).toMatchObject({ one: { name: 'One' }, two: { name: 'Two' } });
    expect(both.headers.get('idempotent-replayed')).toBeNull();
    const same = `mutation Again { one: ${mutation('One')}, two: ${mutation('Two')} }`;
    const again = await send(same, 'g');
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([both.text, 'true']);
    const changed = await send(
      `mutation { one: ${mutation('Three')} two: ${mutation('Two')} }`,
      'g',
    );
    expect([changed.data, changed.headers.get('idempotent-replayed')]).toEqual([
      { one: null, two: both.data?.['two'] },
      'true',
    ]);
    const error = { code: 'IDEMPOTENCY_KEY_REUSED', outcome: 'NOT_DONE' };
    expect(changed.errors).toMatchObject([{ path: ['one'], extensions: error }]);
    const refused = await send(two, 'g h');
    expect([refused.status, refused.errors?.[0]?.extensions['code']]).toEqual([400, 'BAD_REQUEST']);

    const local = (idempotencyKey: string) => execute(two, {}, { authorization, idempotencyKey });
    expect(await local('g')).toEqual({ data: both.data });
    expect((await local('')).errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST' });
    const { data } = await postGraphQL(gateway, '{ pets(limit: 100) { name } }');
    expect(data?.['pets']).toHaveLength(12 + 3);
    const replays = await valuesOf(metrics, 'petstore_idempotent_replays_total', 'x');
    expect(Object.values(replays)).toEqual([5]);
    expect(service.lines.filter((line) => line.includes('"replayed":true'))).toHaveLength(5);
  });
});

it.each([
  'repeatable read',
  'serializable',
])('a write with an idempotency key is done once if transactions of PostgreSQL are %s', async (level) => {
  const url = new URL(await createPostgresDatabase());
  url.searchParams.set('options', `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`);
  await using one = await openBuiltin(url.href);
  await using other = await openBuiltin(url.href);
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    const all = Array.from({ length: 200 }, (_, index) => add(index % 2 ? one : other, key));
    expect(new Set((await Promise.all(all)).map(([id]) => id)).size).toBe(1);
  }
  expect((await countNames(url.href)).get('Rex')).toBe(5);
});
