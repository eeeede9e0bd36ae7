import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../support/authority.ts';
import { apiKey, startGateway, type TestOptions } from '../support/gateway.ts';
import { nodeStart } from '../support/process.ts';
import { startProgram } from '../support/program.ts';
import { send, served } from '../support/rate.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

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

if (!hasRedis) process.stdout.write('Tests with Redis are SKIPPED: install redis-server.\n');

describe.skipIf(!hasRedis)('the rate of several gateways with one Redis', () => {
  const open = (store: string, options: TestOptions = {}) =>
    startGateway({ rateLimitPerKey: 20, rateLimitStore: store, ...options });

  const failure = 'the store of rate limits failed: each process limits alone';
  type Gateway = Awaited<ReturnType<typeof open>>;

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

  /** Expects that the store fails, requests are served, and the store is used again after `mend`. */
  async function outlast(gateway: Gateway, mend: () => Promise<unknown> | unknown): Promise<void> {
    const until = { timeout: 20_000, interval: 20 };
    await vi.waitFor(async () => {
      expect((await send(gateway.url)).status).toBe(200);
      expect((await storeMetrics(gateway)).up).toBe(0);
    }, until);
    const { errors } = await storeMetrics(gateway);
    expect(errors).toBeGreaterThan(0);
    expect(await served(gateway.url, 100)).toBe(100);
    // Each of them would wait for 50 ms in vain.
    expect((await storeMetrics(gateway)).errors - errors).toBeLessThan(50);
    // On a busy machine, it may have failed and recovered before.
    expect(changes(gateway).at(-1)).toBe(failure);
    await mend();
    await vi.waitFor(async () => {
      expect((await storeMetrics(gateway)).up).toBe(1);
      expect(changes(gateway).at(-1)).toBe('the store of rate limits is in use again');
    }, until);
    expect((await send(gateway.url)).status).toBe(200);
  }

  it('is that of one gateway', async () => {
    await using redis = await startRedis();
    await using first = await open(redis.url);
    await using second = await open(redis.url);
    const end = performance.now() + 3000;
    const statuses: number[] = [];
    const clients = [first, second, first, second].map(async ({ url }) => {
      while (performance.now() < end) statuses.push((await send(url)).status);
    });
    await Promise.all(clients);
    const number = statuses.filter((status) => status === 200).length;
    // 20 at once and 20 in each of three seconds. Without the store, it would be twice that.
    expect(number).toBeGreaterThanOrEqual(60);
    // On a busy machine Redis may be late, and the gateway then decides alone.
    const [one, two] = await Promise.all([storeMetrics(first), storeMetrics(second)]);
    expect(number - one.errors - two.errors).toBeLessThanOrEqual(90);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  }, 20_000);

  it('needs no other permissions than those in docs/production.md', async () => {
    await using redis = await startRedis();
    const page = readFileSync('docs/production.md', 'utf8');
    const [, permissions = ''] = /^user petstore on (.+)$/m.exec(page) ?? [];
    const rules = permissions.replace('PASSWORD', 'correct-horse').split(' ');
    await redis.send('ACL', 'SETUSER', 'petstore', 'on', ...rules);
    const url = new URL('/1', redis.url);
    Object.assign(url, { username: 'petstore', password: 'correct-horse' });
    await using gateway = await open(url.href);
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
    expect(await served(gateway.url, 2)).toBe(1);
  });

  it('stores a hash of the key, which expires', async () => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 1 });
    expect((await send(gateway.url)).status).toBe(200);
    const keys = (await redis.send('KEYS', '*')) as string[];
    // The rate of the key, and that of all unknown keys.
    const names = [apiKey, ''].map((key) => `petstore:rate:${hash('sha256', key, 'base64url')}`);
    expect(keys.sort()).toEqual(names.sort());
    for (const key of keys) {
      const left = await redis.send('PTTL', key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(1000);
    }
  });

  it('fails no request when Redis is killed and starts again', async () => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 100_000 });
    let isOver = false;
    const statuses = new Set<number>();
    const clients = Array.from({ length: 5 }, async () => {
      while (!isOver) statuses.add((await send(gateway.url)).status);
    });
    await redis.kill();
    await outlast(gateway, () => redis.restart());
    isOver = true;
    await Promise.all(clients);
    expect([...statuses]).toEqual([200]);
  }, 30_000);

  it('does not wait for a Redis that is frozen', async () => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 100_000 });
    expect((await send(gateway.url)).status).toBe(200);
    redis.freeze();
    const start = performance.now();
    const first = await Promise.all(Array.from({ length: 10 }, () => send(gateway.url)));
    // The connection is replaced after three seconds of silence.
    expect(performance.now() - start).toBeLessThan(2000);
    for (const { status } of first) expect(status).toBe(200);
    await outlast(gateway, redis.thaw);
  }, 30_000);

  it('does not wait for a Redis that is slow', async () => {
    await using redis = await startRedis();
    let delayMs = 0;
    const slow = createServer((socket) => {
      const upstream = connect(Number(new URL(redis.url).port), '127.0.0.1');
      upstream.on('data', (chunk) => setTimeout(() => socket.write(chunk), delayMs));
      socket.on('close', () => upstream.destroy()).pipe(upstream);
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const { port } = slow.address() as AddressInfo;
    await using gateway = await open(`redis://127.0.0.1:${port}`, { rateLimitPerKey: 100_000 });
    expect((await send(gateway.url)).status).toBe(200);
    delayMs = 100;
    const calls = async () =>
      Number(
        /cmdstat_evalsha:calls=(\d+)/.exec(String(await redis.send('INFO', 'commandstats')))?.[1],
      );
    await outlast(gateway, async () => {
      const before = await calls();
      // Each test takes too long.
      const tested = async () => expect(await calls()).toBeGreaterThan(before + 1);
      await vi.waitFor(tested, { timeout: 10_000 });
      expect(changes(gateway).at(-1)).toBe(failure);
      delayMs = 0;
    });
    slow.close();
  }, 30_000);

  it('is not needed to start', async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using gateway = await open(redis.url, { rateLimitPerKey: 100_000 });
    await outlast(gateway, () => redis.restart());
  }, 30_000);

  it('does not delay the start if connections are neither accepted nor refused', async () => {
    await using host = await startSilentHost();
    const start = performance.now();
    await using gateway = await open(host.url, { rateLimitPerKey: 100_000 });
    // A second for the connection; the client's default is five.
    expect(performance.now() - start).toBeLessThan(4000);
    expect(await served(gateway.url, 5)).toBe(5);
  }, 30_000);

  it('fails no request when Redis is full', async () => {
    await using redis = await startRedis();
    await using gateway = await open(redis.url, { rateLimitPerKey: 100_000 });
    await redis.send('CONFIG', 'SET', 'maxmemory', '1');
    await outlast(gateway, () => redis.send('CONFIG', 'SET', 'maxmemory', '0'));
  }, 30_000);

  it('limits each process alone while Redis is gone', async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using gateway = await open(redis.url, { rateLimitPerKey: 1 });
    expect(await served(gateway.url, 3)).toBeLessThan(3);
  });

  it('authenticates, over TLS, and never logs the password', async () => {
    using authority = createAuthority();
    const password = 'correct-horse';
    const certificate = authority.issue('IP:127.0.0.1');
    await using redis = await startRedis({ password, certificate });
    const start = (sent: string) => {
      const url = new URL(redis.url.replace('redis:', 'rediss:'));
      url.password = sent;
      return nodeStart({
        DATABASE_URL: ':memory:',
        ADMIN_PORT: '0',
        RATE_LIMIT_PER_KEY: '1000',
        RATE_LIMIT_STORE: url.href,
        NODE_EXTRA_CA_CERTS: authority.caFile,
      });
    };
    for (const [sent, up] of [
      [password, 1],
      ['wrong-horse', 0],
    ] as const) {
      await using gateway = await start(sent);
      expect((await send(gateway.url)).status).toBe(200);
      const metrics = /http:\S+\/metrics/.exec(gateway.output.stdout)?.[0] ?? '';
      await vi.waitFor(
        async () => {
          const text = await (await fetch(metrics)).text();
          expect(text).toContain(`petstore_rate_limit_store_up ${up}\n`);
          expect(gateway.output.stderr.includes('WRONGPASS')).toBe(up === 0);
        },
        { timeout: 10_000 },
      );
      expect(gateway.output.stderr).not.toContain('horse');
    }
  }, 30_000);
});
