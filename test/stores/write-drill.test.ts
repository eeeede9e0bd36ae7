import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { describe, expect, it } from 'vitest';
import { openAdministration } from '../../src/petstore/open.ts';
import { startAddress } from '../support/address.ts';
import { owning } from '../support/dispose.ts';
import { createFolder } from '../support/folder.ts';
import { quiet } from '../support/log.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { connectTo, freePort, startPostgres } from '../support/postgres.ts';
import { nodeStart } from '../support/process.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

const folder = createFolder();

/** The share of attempts that each fault befalls. */
const share = 0.06;
const befalls = () => Math.random() < share;

/** A backend of the drill, in which pets are counted by name. */
interface Backend extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  readonly apiKey: string;
  /** Fails for a while, in the middle of the drill. */
  interrupt?(): Promise<void>;
  count(): Promise<ReadonlyMap<string, number>>;
}

/** Creates an API key in a database. */
async function createKey(databaseUrl: string): Promise<string> {
  await using administration = await openAdministration(databaseUrl, quiet.log);
  await administration.keys.createAccount('drill');
  return (await administration.keys.create('drill')).key;
}

async function startSqlite(): Promise<Backend> {
  const file = join(folder, `${randomUUID()}.db`);
  return {
    env: { DATABASE_URL: `file:${file}` },
    apiKey: await createKey(`file:${file}`),
    async count() {
      using database = new DatabaseSync(file, { readOnly: true });
      const rows = database.prepare('select name, count(*) as pets from pets group by name').all();
      return new Map(rows.map(({ name, pets }) => [String(name), Number(pets)]));
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function startPostgresql(): Promise<Backend> {
  const server = await startPostgres();
  const direct = new URL(await server.createDatabase());
  const standby = await server.startStandby();
  const address = await startAddress(direct.href);
  return {
    env: { DATABASE_URL: address.url },
    apiKey: await createKey(address.url),
    /** The standby becomes the primary, and the address leads to it late. */
    async interrupt() {
      await standby.promote();
      address.lead(standby.port);
    },
    async count() {
      await using client = await connectTo(Object.assign(direct, { port: standby.port }).href);
      const { rows } = await client.query(
        'select name, count(*)::int as pets from pets group by 1',
      );
      return new Map(rows.map(({ name, pets }) => [name, pets]));
    },
    ...owning(address, server),
  };
}

/** Starts a service that loses calls before and after it has done them, and may honour the header. */
async function startService(isIdempotent: boolean): Promise<Backend> {
  const counts = new Map<string, number>();
  const done = new Set<unknown>();
  const service = await startUpstream(({ method, headers, body }, response: ServerResponse) => {
    if (method !== 'POST') return sendJson(response, 200, '[]');
    if (befalls()) return response.destroy();
    const key = headers['idempotency-key'];
    const { name } = JSON.parse(body);
    if (!isIdempotent || !done.has(key)) counts.set(name, (counts.get(name) ?? 0) + 1);
    done.add(key);
    if (befalls()) return response.destroy();
    // No response before the deadline.
    if (befalls()) return undefined;
    return sendJson(response, 201, JSON.stringify({ id: 1, name, categoryId: 1 }));
  });
  return {
    env: { PETSTORE_BASE_URL: `${service.url}/v1`, UPSTREAM_TIMEOUT_MS: '1500' },
    apiKey: 'any',
    count: async () => counts,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

async function startHonouring(): Promise<Backend> {
  const { env, ...service } = await startService(true);
  return { ...service, env: { ...env, UPSTREAM_IDEMPOTENCY: 'on' } };
}

async function startRemembered(): Promise<Backend> {
  const [redis, next] = [await startRedis(), await startRedis()];
  const [port, nextPort] = [new URL(redis.url).port, new URL(next.url).port];
  const address = await startAddress(redis.url);
  await next.send('REPLICAOF', '127.0.0.1', port);
  const { env, ...service } = await startService(false);
  return {
    ...service,
    env: { ...env, IDEMPOTENCY_STORE: address.url },
    /** The replica becomes the primary, and the address leads to it late. */
    async interrupt() {
      await redis.send('FAILOVER', 'TO', '127.0.0.1', nextPort);
      while (!/role:master/.test(String(await next.send('INFO', 'replication')))) await wait(10);
      await wait(500);
      address.lead(nextPort);
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await address[Symbol.asyncDispose]();
      for (const one of [redis, next]) await one[Symbol.asyncDispose]();
    },
  };
}

/** Sends a mutation until its outcome is final, for two minutes at most. @returns the outcome. */
async function write(
  dispatcher: Agent,
  apiKey: string,
  name: string,
  key: string | undefined,
): Promise<string> {
  const query =
    'mutation ($name: String!) { addPet(input: { name: $name, categoryId: 1 }) { id } }';
  const headers = {
    ...{ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  let outcome = 'UNKNOWN';
  const giveUpAt = performance.now() + 120_000;
  for (let attempt = 1; performance.now() < giveUpAt; attempt++) {
    try {
      const { statusCode, body } = await request('http://nginx/graphql', {
        dispatcher,
        ...{ method: 'POST', headers },
        body: JSON.stringify({ query, variables: { name } }),
        // A client that leaves early.
        signal: AbortSignal.timeout(befalls() ? Math.ceil(10 * Math.random()) : 10_000),
      });
      const text = await body.text();
      // A response that is lost on its way to the client.
      if (befalls()) throw new Error('lost');
      if (statusCode === 200) {
        const { data, errors } = JSON.parse(text);
        if (data?.addPet) return 'DONE';
        outcome = errors[0].extensions.outcome;
        // Every attempt after it has the same outcome.
        if (errors[0].extensions.retryable === false && attempt > 2) return outcome;
      }
    } catch {}
    await wait((0.5 + Math.random() / 2) * Math.min(50 * 2 ** attempt, 2000));
  }
  return outcome;
}

/** Writes a thousand pets through two gateways that are killed in turn. */
async function drill(backend: Backend, hasKeys: boolean) {
  const ports = [await freePort(), await freePort()];
  const start = (port = 0) => nodeStart({ ...backend.env, PORT: String(port) });
  const gateways = [await start(ports[0]), await start(ports[1])];
  await using nginx = await startNginx(ports.map((port) => `http://127.0.0.1:${port}`));
  await using closing = new AsyncDisposableStack();
  const dispatcher = new Agent({ connect: { socketPath: nginx.socketPath } });
  closing.defer(() => dispatcher.destroy());
  const names = Array.from({ length: 1000 }, (_, index) => `write ${index}`);
  const outcomes = new Map<string, string>();
  const waiting = names.toReversed();
  const work = async () => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const key = hasKeys ? randomUUID() : undefined;
      outcomes.set(name, await write(dispatcher, backend.apiKey, name, key));
    }
  };
  const working = Promise.all(Array.from({ length: 25 }, work));
  const until = async (left: number) => {
    while (waiting.length > left) await wait(10);
  };
  for (const [round, left] of [900, 750, 600, 450, 300, 150].entries()) {
    await until(left);
    const index = round % 2;
    gateways[index]?.kill('SIGKILL');
    await gateways[index]?.exited;
    gateways[index] = await start(ports[index]);
    if (round === 2) await backend.interrupt?.();
  }
  await working;
  for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
  const counts = await backend.count();
  const pets = names.map((name) => counts.get(name) ?? 0);
  return {
    done: pets.filter((count) => count > 0).length,
    duplicates: pets.filter((count) => count > 1).length,
    unknown: names.filter((name) => outcomes.get(name) === 'UNKNOWN').length,
    /** Writes that were confirmed and are missing, or were not done but are there. */
    wrong: names.filter((name, index) => {
      const outcome = outcomes.get(name);
      return (outcome === 'DONE' && pets[index] !== 1) || (outcome === 'NOT_DONE' && pets[index]);
    }),
  };
}

const isReady = hasNginx && hasRedis;
const timeout = 300_000;
describe.skipIf(!isReady)('a thousand writes with every fault at once', { timeout }, () => {
  it.each([
    ['SQLite', startSqlite],
    ['PostgreSQL', startPostgresql],
    ['a service that honours the key', startHonouring],
  ])('are done once each on %s', async (_, open) => {
    await using backend = await open();
    const { wrong, ...counted } = await drill(backend, true);
    expect(counted).toEqual({ done: 1000, duplicates: 0, unknown: 0 });
    expect(wrong).toEqual([]);
  });

  it('are never done twice before any other service, with Redis', async () => {
    await using backend = await startRemembered();
    const { duplicates, wrong, unknown } = await drill(backend, true);
    expect([duplicates, wrong]).toEqual([0, []]);
    expect(unknown).toBeGreaterThan(0);
  });

  it('are done twice without keys', async () => {
    await using backend = await startSqlite();
    const { duplicates } = await drill(backend, false);
    expect(duplicates).toBeGreaterThan(0);
  });
});
