import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createFolder } from '../support/folder.ts';
import { graphqlRequest, withKey } from '../support/graphql.ts';
import { manifestFile } from '../support/manifest.ts';
import { commandPath, commandStart, nodeLaunch, nodeStart } from '../support/process.ts';
import { startServer } from '../support/server.ts';
import { startHoldingUpstream } from '../support/upstream.ts';

const folder = createFolder();

const withWorkers = (env: Record<string, string> = {}) => ({
  WORKERS: '2',
  ADMIN_PORT: '0',
  DATABASE_URL: `file:${folder}/${randomUUID()}.db`,
  DEMO: 'on',
  ...env,
});

const startWorkers = (env?: Record<string, string>) => nodeStart(withWorkers(env));

type Started = Awaited<ReturnType<typeof startWorkers>>;

/** Sends a request over a new connection, which any worker can receive. @returns the status. */
async function send({ url }: Pick<Started, 'url'>): Promise<number> {
  const query = 'query Count { pets(limit: 1) { id } }';
  const headers = { ...withKey, connection: 'close' };
  const response = await fetch(graphqlRequest(url, { query }, headers));
  await response.text();
  return response.status;
}

async function sendMany(started: Started, count: number): Promise<Set<number>> {
  return new Set(await Promise.all(Array.from({ length: count }, () => send(started))));
}

function workersOf({ pid }: Pick<Started, 'pid'>): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

function adminOf({ output }: Started): string {
  return /Metrics +(http:\S+)\/metrics/.exec(output.stdout)?.[1] ?? '';
}

/** Waits until the metrics of the whole gateway have this number of requests: a worker that is slow is left out. */
function expectCount(started: Started, count: number): Promise<void> {
  return vi.waitFor(async () => {
    const metrics = await (await fetch(`${adminOf(started)}/metrics`)).text();
    expect(metrics).toContain(
      `_request_duration_seconds_count{operation="Count",outcome="success"} ${count}\n`,
    );
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // An exited process remains as a zombie until its parent reaps it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const environmentOf = (pid: number) => readFileSync(`/proc/${pid}/environ`, 'utf8');

/**
 * Launches two workers, and suspends the second while it starts: once it has an environment of its
 * own, because the primary is blocked between fork and exec.
 */
async function launchHalf(env: Record<string, string>) {
  const launched = await nodeLaunch(withWorkers(env));
  const second = await vi.waitFor(() => {
    const pid = workersOf(launched)[1];
    if (pid === undefined) throw new Error('Expected a second worker.');
    expect(['', environmentOf(launched.pid)]).not.toContain(environmentOf(pid));
    process.kill(pid, 'SIGSTOP');
    return pid;
  });
  return { ...launched, resume: () => process.kill(second, 'SIGCONT') };
}

describe('a gateway whose second worker has not served yet', () => {
  it('finishes a write in flight on SIGTERM', async () => {
    await using upstream = await startHoldingUpstream();
    const socketPath = join(folder, 'half.sock');
    await using half = await launchHalf({
      HOST: `unix:${socketPath}`,
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      SHUTDOWN_GRACE_MS: '600000',
    });
    const headers = { ...withKey, host: 'localhost', 'content-type': 'application/json' };
    const options = { socketPath, path: '/graphql', method: 'POST', headers, agent: false };
    const pending = request(options);
    const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
    const responded = once(pending.end(JSON.stringify({ query })), 'response');
    const respond = await upstream.pending;
    process.kill(half.pid, 'SIGTERM');
    await vi.waitFor(() => expect(half.output.stderr).toContain('"shutting down"'));
    respond();
    const [{ statusCode }] = await responded;
    expect(statusCode).toBe(200);
    half.resume();
    expect(await half.exited).toBe(0);
    expect(half.output.stdout).toBe('');
  });

  it('reads files again on SIGHUP once it has', async () => {
    await using half = await launchHalf({});
    process.kill(half.pid, 'SIGHUP');
    half.resume();
    await vi.waitFor(() => expect(half.output.stderr).toContain('"configuration reloaded"'));
  });

  it('has started if it cannot, and retries', async () => {
    const manifest = join(folder, 'removed.json');
    await copyFile(manifestFile, manifest);
    await using launched = await nodeLaunch(
      withWorkers({ PERSISTED_DOCUMENTS: 'allow', PERSISTED_DOCUMENTS_FILE: manifest }),
    );
    const serving = () => launched.output.stderr.match(/"worker is serving"/g)?.length;
    await vi.waitFor(() => expect(serving()).toBe(1), { interval: 5 });
    await rm(manifest);
    const url = await launched.url;
    expect(await send({ url })).toBe(200);
    await copyFile(manifestFile, manifest);
    await vi.waitFor(() => expect(serving()).toBe(2));
  });
});

describe('a gateway with two workers', () => {
  it('shares one port, and one admin port with the metrics and health of all workers', async () => {
    await using started = await startWorkers();
    expect(started.output.stdout.match(/Pet Store gateway/g)).toHaveLength(1);
    expect(started.output.stdout).toMatch(/Workers +2 processes/);
    expect(await sendMany(started, 20)).toEqual(new Set([200]));
    expect(await (await fetch(`${adminOf(started)}/readyz`)).text()).toBe('ready\n');
    const { headers } = await fetch(`${adminOf(started)}/metrics`);
    expect(headers.get('content-type')).toMatch(/^application\/openmetrics-text/);
    const text = await vi.waitFor(async () => {
      const scraped = await (await fetch(`${adminOf(started)}/metrics`)).text();
      expect(scraped).toMatch(/^petstore_ready 1$/m);
      return scraped;
    });
    expect(text).toMatch(/^process_cpu_seconds_total /m);
    expect(text).not.toContain('_total_total');
    await expectCount(started, 20);
  });

  it('replaces a worker that exits, and logs it', async () => {
    await using started = await startWorkers();
    const first = workersOf(started);
    expect(first).toHaveLength(2);
    const serving = () => started.output.stderr.match(/"msg":"worker is serving"/g)?.length;
    await vi.waitFor(() => expect(serving()).toBe(2));
    await sendMany(started, 20);
    await expectCount(started, 20);
    for (const [index, pid] of first.entries()) {
      process.kill(pid, 'SIGKILL');
      // While one exits, the list of the system may have another one twice.
      await vi.waitFor(() => {
        const further = workersOf(started).filter((one) => !first.includes(one));
        expect(new Set(further).size).toBe(index + 1);
      });
      // The one that is starting reads the configuration again when it serves.
      process.kill(started.pid, 'SIGHUP');
      await vi.waitFor(() => expect(serving()).toBe(3 + index));
      const reloaded = () => started.output.stderr.match(/"configuration reloaded"/g)?.length;
      await vi.waitFor(() => expect(reloaded(), started.output.stderr).toBe(3 * (index + 1)));
    }
    // Both initial workers are gone, so their replacements respond.
    expect(first.filter(isAlive)).toEqual([]);
    expect(await sendMany(started, 20)).toEqual(new Set([200]));
    // The counts of workers that were killed are lost.
    await expectCount(started, 20);
    expect(started.output.stderr.match(/"signal":"SIGKILL","msg":"worker exited"/g)).toHaveLength(
      2,
    );
  });

  it('drains as a unit when all of its processes receive a signal', async () => {
    await using upstream = await startHoldingUpstream();
    await using started = await startWorkers({
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      SHUTDOWN_GRACE_MS: '600000',
      UPSTREAM_TIMEOUT_MS: '600000',
    });
    const pending = send(started);
    const respond = await upstream.pending;
    // A terminal also sends Ctrl+C to the whole process group.
    started.kill('SIGINT');
    await vi.waitFor(async () => {
      const ready = await fetch(`${adminOf(started)}/readyz`);
      expect(await ready.text()).toBe('not ready: draining\n');
    });
    respond();
    expect(await pending).toBe(200);
    expect(await started.exited).toBe(0);
    expect(started.output.stderr.match(/"msg":"shut down"/g)).toHaveLength(3);
  });

  it('leaves signals to its primary', async () => {
    await using started = await startWorkers();
    const workers = workersOf(started);
    for (const pid of workers) process.kill(pid, 'SIGTERM');
    process.kill(started.pid, 'SIGHUP');
    await vi.waitFor(() =>
      expect(started.output.stderr.match(/"configuration reloaded"/g)).toHaveLength(3),
    );
    expect(started.output.stderr).not.toContain('"shutting down"');
    expect(workersOf(started)).toEqual(workers);
  });

  it('exits with 1 on a second signal', async () => {
    await using upstream = await startHoldingUpstream();
    await using started = await startWorkers({
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      SHUTDOWN_GRACE_MS: '600000',
      UPSTREAM_TIMEOUT_MS: '600000',
    });
    const dropped = expect(send(started)).rejects.toThrow();
    await upstream.pending;
    process.kill(started.pid, 'SIGTERM');
    await vi.waitFor(() => expect(started.output.stderr).toContain('"shutting down"'));
    process.kill(started.pid, 'SIGTERM');
    expect(await started.exited).toBe(1);
    await dropped;
  });

  it('kills a worker that does not end in the grace period', async () => {
    await using started = await startWorkers({ SHUTDOWN_GRACE_MS: '0' });
    const [hanging = 0] = workersOf(started);
    process.kill(hanging, 'SIGSTOP');
    process.kill(started.pid, 'SIGTERM');
    expect(await started.exited).toBe(0);
    expect(isAlive(hanging)).toBe(false);
  });

  it('serves while its primary does not run', async () => {
    await using started = await startWorkers();
    process.kill(started.pid, 'SIGSTOP');
    expect(await sendMany(started, 20)).toEqual(new Set([200]));
  });

  it('is not ready, and says why, if no worker is or none serves', async () => {
    const connected = Promise.withResolvers<Socket>();
    await using database = await startServer(createServer(connected.resolve));
    const config = join(folder, 'config');
    await writeFile(config, 'PETSTORE_BASE_URL=http://127.0.0.1:1/v1\n');
    await using started = await startWorkers({
      CONFIG_FILE: config,
      DATABASE_URL: '',
      DEMO: '',
      SHUTDOWN_GRACE_MS: '600000',
    });
    const reason = async () => (await fetch(`${adminOf(started)}/readyz`)).text();
    expect(await reason()).toBe('not ready: The pet store could not be reached.\n');
    await writeFile(config, `DATABASE_URL=${database.url.replace('http', 'postgres')}\n`);
    for (const pid of workersOf(started)) process.kill(pid, 'SIGKILL');
    await connected.promise;
    await vi.waitFor(async () => expect(await reason()).toBe('not ready: No worker is serving.\n'));
    process.kill(started.pid, 'SIGTERM');
    expect(await started.exited).toBe(0);
  });

  it('leaves no workers when the primary is killed', async () => {
    await using started = await startWorkers();
    const workers = workersOf(started);
    process.kill(started.pid, 'SIGKILL');
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]));
  });

  it('logs once why it could not start', async () => {
    await using started = await startWorkers();
    const { port } = new URL(started.url);
    await using second = await startWorkers({ PORT: port });
    expect(await second.exited).toBe(1);
    expect(second.output.stdout).toBe('');
    expect(second.output.stderr.match(/is already in use/g)).toHaveLength(1);
  });

  // These four wait for workers that are silent, and for pauses between starts.
  it.concurrent('is ready while one of two workers responds, and replaces one that is stopped with SIGSTOP', async () => {
    await using started = await startWorkers();
    // The other one has served for longer.
    const [, stopped = 0] = workersOf(started);
    process.kill(stopped, 'SIGSTOP');
    const ready = await fetch(`${adminOf(started)}/readyz`);
    expect(await ready.text()).toBe('ready\n');
    await vi.waitFor(() => expect(workersOf(started)).not.toContain(stopped));
    await vi.waitFor(() =>
      expect(started.output.stderr.match(/"msg":"worker is serving"/g)).toHaveLength(3),
    );
    expect(started.output.stderr.match(/"msg":"worker does not respond/g)).toHaveLength(1);
    expect(await sendMany(started, 20)).toEqual(new Set([200]));
  });

  it.concurrent('keeps serving with one worker while the other cannot start, and retries', async () => {
    const manifest = join(folder, 'missing.json');
    await copyFile(manifestFile, manifest);
    await using started = await startWorkers({
      PERSISTED_DOCUMENTS: 'allow',
      PERSISTED_DOCUMENTS_FILE: manifest,
    });
    const count = (line: string) => started.output.stderr.split(`"msg":"${line}"`).length - 1;
    await vi.waitFor(() => expect(count('worker is serving')).toBe(2));
    await rm(manifest);
    process.kill(workersOf(started)[0] ?? 0, 'SIGKILL');
    // The killed worker, and more failed starts than a gateway without a serving worker tolerates.
    await vi.waitFor(() => expect(count('worker exited')).toBe(6));
    expect(await sendMany(started, 5)).toEqual(new Set([200]));
    await copyFile(manifestFile, manifest);
    await vi.waitFor(() => expect(count('worker is serving')).toBe(3));
    // The failed starts before no longer count.
    for (const pid of workersOf(started)) process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(count('worker is serving')).toBe(5));
  });

  it.concurrent('keeps serving while no worker can be forked, and retries', async () => {
    const node = join(folder, 'node');
    await copyFile(process.execPath, node);
    await using started = await commandStart(await commandPath(), withWorkers(), node);
    const count = (line: string) => started.output.stderr.split(`"msg":"${line}"`).length - 1;
    await vi.waitFor(() => expect(count('worker is serving')).toBe(2));
    await rename(node, `${node}-replaced`);
    process.kill(workersOf(started)[0] ?? 0, 'SIGKILL');
    // The killed worker, and its replacement.
    await vi.waitFor(() => expect(count('worker exited')).toBeGreaterThan(1));
    expect(started.output.stderr).toContain('"code":"ENOENT"');
    expect(await sendMany(started, 5)).toEqual(new Set([200]));
    await rename(`${node}-replaced`, node);
    await vi.waitFor(() => expect(count('worker is serving')).toBe(3));
  });

  it.concurrent('exits with 1 when workers repeatedly exit before they serve', async () => {
    const manifest = join(folder, 'manifest.json');
    await copyFile(manifestFile, manifest);
    await using started = await startWorkers({
      PERSISTED_DOCUMENTS: 'allow',
      PERSISTED_DOCUMENTS_FILE: manifest,
    });
    await rm(manifest);
    for (const pid of workersOf(started)) process.kill(pid, 'SIGKILL');
    expect(await started.exited).toBe(1);
    expect(started.output.stderr).toContain('giving up');
  });
});
