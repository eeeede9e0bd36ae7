import { hash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startAddress } from '../support/address.ts';
import { createAuthority } from '../support/authority.ts';
import { createFolder } from '../support/folder.ts';
import { apiKey, startGateway, type TestOptions } from '../support/gateway.ts';
import { withKey } from '../support/graphql.ts';
import { nodeStart, startIn } from '../support/process.ts';
import { startProgram } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

const folder = createFolder();

/** Sends a request with an API key. @returns the status. */
async function send(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/pets`, { headers: withKey });
  await response.text();
  return response.status;
}

/** Sends requests at once, and returns how many were served. */
async function served(url: string, count: number): Promise<number> {
  const statuses = await Promise.all(Array.from({ length: count }, () => send(url)));
  return statuses.filter((status) => status === 200).length;
}

/** Starts a listener whose queue is full, so that the system drops the packets of new connections. */
async function startSilentHost() {
  const script = `const { createServer } = require('node:net');
    const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      console.log(server.address().port);
      process.kill(process.pid, 'SIGSTOP');
    });`;
  const host = await startProgram(process.execPath, ['--eval', script], /^(\d+)\n/);
  const port = Number(host.match[1]);
  const full = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await once(full[0] as Socket, 'connect');
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of full) socket.destroy();
      await host.stop('SIGKILL');
    },
  };
}

it('loads no client of a store unless RATE_LIMIT_STORE is set', async () => {
  const report = `import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => {
  if (/@redis/.test(url)) process.stderr.write('loaded ' + url);
  return next(url, context);
} });`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(report)}`;
  const common = { NODE_OPTIONS, DATABASE_URL: ':memory:', RATE_LIMIT_PER_KEY: '5' };
  // Without a build, the modules have the names of their packages.
  const start = (env: Record<string, string>) => startIn('.', ['src/main.ts'], env);
  await using alone = await start(common);
  await using shared = await start({ ...common, RATE_LIMIT_STORE: 'redis://127.0.0.1:1' });
  expect(alone.output.stderr).not.toContain('loaded');
  expect(shared.output.stderr).toContain('loaded');
});

if (!hasRedis) process.stdout.write('Tests with Redis are SKIPPED: install redis-server.\n');

describe.skipIf(!hasRedis)('the rate of several gateways with one Redis', () => {
  const open = (store: string, options: TestOptions = {}) =>
    startGateway({ rateLimitPerKey: 20, rateLimitStore: store, ...options });

  const failure = 'the store of rate limits failed: each process limits alone';
  type Gateway = Awaited<ReturnType<typeof open>>;
  type Redis = Awaited<ReturnType<typeof startRedis>>;

  /** Returns the changes of the store's state that were logged. */
  const changes = ({ lines }: Gateway) =>
    lines.map((line) => JSON.parse(line).msg).filter((msg) => /^the store of rate/.test(msg));

  async function storeMetrics({ metrics }: Gateway) {
    const { text } = await metrics.scrape();
    const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
    return {
      up: value('petstore_rate_limit_store_up'),
      errors: value('petstore_rate_limit_store_errors_total'),
    };
  }

  /** Sends requests to both, one after the other. @returns how much longer those to the first take. */
  async function timeApart({ url }: Gateway, control: Gateway, count: number): Promise<number> {
    const timed = async (to: string) => {
      const start = performance.now();
      expect(await send(to)).toBe(200);
      return performance.now() - start;
    };
    let apart = 0;
    for (let sent = 0; sent < count; sent++)
      apart += (await timed(url)) - (await timed(control.url));
    return apart;
  }

  /** Expects that the store fails, requests are served, and the store is used again after `mend`. */
  async function outlast(gateway: Gateway, mend: () => Promise<unknown> | unknown): Promise<void> {
    const until = { interval: 20 };
    await vi.waitFor(async () => {
      expect(await send(gateway.url)).toBe(200);
      expect((await storeMetrics(gateway)).up).toBe(0);
    }, until);
    await using control = await startGateway();
    // Each of them would wait for 50 ms.
    expect(await timeApart(gateway, control, 100)).toBeLessThan(2500);
    expect((await storeMetrics(gateway)).errors).toBeGreaterThan(0);
    expect(changes(gateway)[0]).toBe(failure);
    await mend();
    await vi.waitFor(async () => expect((await storeMetrics(gateway)).up).toBe(1), until);
    expect(changes(gateway).at(-1)).toBe('the store of rate limits is in use again');
    expect(await send(gateway.url)).toBe(200);
  }

  it('is that of one gateway', async () => {
    await using redis = await startRedis();
    await using first = await open(redis.url);
    await using second = await open(redis.url);
    const start = performance.now();
    let count = 0;
    for (let round = 0; round < 20; round++) {
      const both = [first, second].map(({ url }) => served(url, 10));
      for (const one of await Promise.all(both)) count += one;
    }
    const allowed = 20 + ((performance.now() - start) / 1000) * 20;
    expect(count).toBeGreaterThanOrEqual(20);
    // On a busy machine Redis may be late, and each gateway then decides alone.
    const [one, two] = await Promise.all([storeMetrics(first), storeMetrics(second)]);
    expect(count).toBeLessThanOrEqual(allowed * (one.errors + two.errors > 0 ? 2 : 1) + 1);
  });

  it('may have an IPv6 address', async () => {
    await using redis = await startRedis({ host: '::1' });
    await using gateway = await open(redis.url);
    expect(await send(gateway.url)).toBe(200);
    expect(await storeMetrics(gateway)).toMatchObject({ up: 1, errors: 0 });
  });

  it('shows each gateway what the others have used', async () => {
    await using redis = await startRedis();
    await using first = await open(redis.url, { rateLimitPerKey: 3 });
    await using second = await open(redis.url, { rateLimitPerKey: 3 });
    const isUsedUp = async () => {
      await served(first.url, 5);
      // Refused by Redis only, because its own process has served no other.
      const { status, headers } = await fetch(`${second.url}/v1/pets`, { headers: withKey });
      expect(status).toBe(429);
      expect(headers.get('ratelimit')).toMatch(/;r=0;t=1$/);
    };
    // On a busy machine a second may pass between the two.
    await vi.waitFor(isUsedUp, { interval: 1100 });
  });

  it('needs no other permissions than those in docs/production.md', async () => {
    await using redis = await startRedis();
    await using gateway = await open(await redis.permit());
    expect(await served(gateway.url, 5)).toBe(5);
    // Without the script in its cache, Redis receives the text.
    await redis.send('SCRIPT', 'FLUSH');
    expect(await served(gateway.url, 5)).toBe(5);
    expect(await redis.send('INFO', 'commandstats')).toMatch(/cmdstat_eval:calls=/);
    // What was denied.
    expect(await redis.send('ACL', 'LOG')).toEqual([]);
  });

  it('counts anew if the clock of Redis was set back', async () => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 1 });
    const nextHour = String((Date.now() + 3_600_000) * 1000);
    for (const key of [apiKey, '']) {
      await redis.send('SET', `petstore:rate:${hash('sha256', key, 'base64url')}`, nextHour);
    }
    expect(await send(gateway.url)).toBe(200);
    expect(await served(gateway.url, 20)).toBeLessThan(20);
  });

  it('stores a hash of the key, which expires', async () => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 1 });
    // The rate of the key, and that of all unknown keys.
    const names = [apiKey, ''].map((key) => `petstore:rate:${hash('sha256', key, 'base64url')}`);
    const expectStored = async () => {
      await send(gateway.url);
      const keys = (await redis.send('KEYS', '*')) as string[];
      expect(keys).toContain(names[0]);
      expect(names).toEqual(expect.arrayContaining(keys));
      const left = await redis.send('PTTL', names[0] ?? '');
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(1000);
    };
    // They may expire between two commands.
    await vi.waitFor(expectStored);
    await vi.waitFor(async () => expect(await redis.send('KEYS', '*')).toEqual([]));
  });

  it.each<[string, (redis: Redis) => Promise<unknown>, (redis: Redis) => Promise<unknown>]>([
    ['killed and starts again', (redis) => redis.kill(), (redis) => redis.restart()],
    ['full', (redis) => redis.limit('1'), (redis) => redis.limit('0')],
  ])('fails no request when Redis is %s', async (_, fail, mend) => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 100_000 });
    let isOver = false;
    const statuses = new Set<number>();
    const clients = Array.from({ length: 5 }, async () => {
      while (!isOver) statuses.add(await send(gateway.url));
    });
    await fail(redis);
    await outlast(gateway, () => mend(redis));
    isOver = true;
    await Promise.all(clients);
    expect([...statuses]).toEqual([200]);
  });

  it('does not wait for a Redis that is frozen', async () => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 100_000 });
    expect(await send(gateway.url)).toBe(200);
    redis.freeze();
    const start = performance.now();
    expect(await served(gateway.url, 10)).toBe(10);
    // The connection is replaced after three seconds of silence; the requests wait for 50 ms.
    expect(performance.now() - start).toBeLessThan(2500);
    await outlast(gateway, redis.thaw);
  });

  it('does not wait for a Redis that is slow', async () => {
    await using redis = await startRedis();
    let isSlow = false;
    await using proxy = await startAddress(redis.url);
    // Each reply to a script, also behind one to a ping, arrives after the request has given up.
    proxy.pass = async (chunk, client) => {
      if (isSlow && /:-?\d+\r\n$/.test(String(chunk))) await nextError();
      client.write(chunk);
    };
    await using gateway = await open(proxy.url, { rateLimitPerKey: 100_000 });
    let late = 0;
    async function nextError(): Promise<void> {
      const { errors } = await storeMetrics(gateway);
      const isLate = async () => expect((await storeMetrics(gateway)).errors).not.toBe(errors);
      await vi.waitFor(isLate, { interval: 5 });
      late++;
    }
    expect(await send(gateway.url)).toBe(200);
    isSlow = true;
    await outlast(gateway, async () => {
      const before = late;
      // It is tested again, or used again after a reply in time, and each further reply is late.
      await vi.waitFor(async () => {
        await send(gateway.url);
        expect(late).toBeGreaterThan(before + 1);
      });
      isSlow = false;
    });
  });

  it('does not delay the start if connections are neither accepted nor refused', async () => {
    await using host = await startSilentHost();
    const start = performance.now();
    await using gateway = await open(host.url, { rateLimitPerKey: 100_000 });
    // A second for the connection; the client's default is five.
    expect(performance.now() - start).toBeLessThan(4000);
    expect(await served(gateway.url, 5)).toBe(5);
  });

  it('is not needed to start, and each process limits alone while Redis is gone', async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using limited = await open(redis.url, { rateLimitPerKey: 1 });
    expect(await served(limited.url, 20)).toBeLessThan(20);
    await using gateway = await open(redis.url, { rateLimitPerKey: 100_000 });
    await outlast(gateway, () => redis.restart());
  });

  it('changes with its file', async () => {
    await using redis = await startRedis();
    const CONFIG_FILE = join(folder, 'env');
    writeFileSync(CONFIG_FILE, 'RATE_LIMIT_PER_KEY=1\n');
    const env = { DATABASE_URL: ':memory:', RATE_LIMIT_STORE: redis.url, CONFIG_FILE };
    await using gateway = await nodeStart(env);
    expect(await served(gateway.url, 40)).toBeLessThan(40);
    writeFileSync(CONFIG_FILE, 'RATE_LIMIT_PER_KEY=1000\n');
    process.kill(gateway.pid, 'SIGHUP');
    await vi.waitFor(async () => expect(await served(gateway.url, 40)).toBe(40));
  });

  it('authenticates, over TLS, and never logs the password', async () => {
    using authority = createAuthority();
    const password = 'correct-horse';
    const certificate = authority.issue('IP:127.0.0.1');
    await using redis = await startRedis({ password, certificate });
    const start = (sent: string) => {
      const url = new URL(redis.url.replace('redis:', 'rediss:'));
      url.password = sent;
      const store = { RATE_LIMIT_PER_KEY: '1000', RATE_LIMIT_STORE: url.href };
      const common = { DATABASE_URL: ':memory:', ADMIN_PORT: '0' };
      return nodeStart({ ...common, ...store, NODE_EXTRA_CA_CERTS: authority.caFile });
    };
    for (const up of [1, 0]) {
      await using gateway = await start(up === 1 ? password : 'wrong-horse');
      expect(await send(gateway.url)).toBe(200);
      const metrics = /http:\S+\/metrics/.exec(gateway.output.stdout)?.[0] ?? '';
      await vi.waitFor(async () => {
        const text = await (await fetch(metrics)).text();
        expect(text).toContain(`petstore_rate_limit_store_up ${up}\n`);
        expect(gateway.output.stderr.includes('WRONGPASS')).toBe(up === 0);
      });
      expect(gateway.output.stderr).not.toContain('horse');
    }
  });
});
