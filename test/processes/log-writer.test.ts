import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openLogWriter } from '../../src/telemetry/log-writer.ts';
import { createFolder } from '../support/folder.ts';
import { commandPath } from '../support/process.ts';
import { canMount, mountSmallDisk } from '../support/small-disk.ts';

const folder = createFolder();

/** Opens a pipe for reading and writing. */
function openPipe(path = join(folder, `log-${randomUUID()}`), flags = 0): number {
  execFileSync('mkfifo', [path]);
  return openSync(path, constants.O_RDWR | flags);
}

/** Starts a gateway whose log goes to a file descriptor, which is closed with the gateway. */
async function startLoggingTo(log: number | 'pipe', env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [await commandPath()], {
    env: {
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      PORT: '0',
      ADMIN_PORT: '0',
      DATABASE_URL: `file:${folder}/${randomUUID()}.db`,
      DEMO: 'on',
      MAX_EVENT_LOOP_LAG_MS: '60000',
      ...env,
    },
    stdio: ['ignore', 'pipe', log],
  });
  const exited = once(child, 'exit');
  const [banner] = await once(child.stdout as Readable, 'data');
  const [, url = ''] = /GraphQL +(\S+)/.exec(banner) ?? [];
  const [, admin = ''] = /Metrics +(\S+)/.exec(banner) ?? [];
  let metrics = '';
  const dropped = async () => {
    const last = metrics;
    // Scrapes within a second are one.
    await vi.waitFor(async () => {
      metrics = await (await fetch(admin)).text();
      expect(metrics).not.toBe(last);
    });
    return Number(/^petstore_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
  };
  let sent = 0;
  /** Sends requests, at most fifty at a time, each on a connection of its own. */
  const send = async (count: number): Promise<void> => {
    const headers = { connection: 'close' };
    const now = Math.min(count, 50);
    const responses = Array.from({ length: now }, () =>
      fetch(`${url}?query={__typename}`, { headers }),
    );
    for (const response of await Promise.all(responses)) {
      expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
      sent++;
    }
    if (count > now) await send(count - now);
  };
  return {
    child,
    exited,
    port: Number(new URL(url).port),
    /** The number of log lines in the metrics that were dropped. */
    dropped,
    /** The number of requests that got a response. */
    sent: () => sent,
    send,
    /** Sends requests until enough of their lines are dropped. */
    async sendUntilDropped(least: number) {
      while ((await dropped()) < least) await send(50);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      if (typeof log === 'number') closeSync(log);
    },
  };
}

describe.skipIf(!canMount)('a log on a full disk', () => {
  /** Fills the disk, returns half of it, and reads the log after the end of the gateway. */
  async function fillAndRelease(env: Record<string, string>) {
    using disk = mountSmallDisk();
    if (disk === undefined) throw new Error('Expected to be allowed to mount.');
    const path = join(disk.folder, 'gateway.log');
    await disk.occupy();
    await using started = await startLoggingTo(openSync(path, 'a'), env);
    expect(await started.dropped()).toBe(0);
    await started.sendUntilDropped(200);
    const { size } = await stat(path);
    await disk.release();
    // What is buffered is written without further requests.
    await vi.waitFor(async () => expect((await stat(path)).size).toBeGreaterThan(size));
    await vi.waitFor(async () => {
      const before = await started.dropped();
      await started.send(1);
      expect(await started.dropped()).toBe(before);
    });
    await started.send(5);
    const dropped = await started.dropped();
    started.child.kill('SIGTERM');
    expect(await started.exited).toEqual([0, null]);
    const lines = readFileSync(path, 'utf8').split('\n');
    return { lines, logged: started.sent() - dropped };
  }
  const countRequests = (lines: readonly string[]) =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request').length;

  it('continues when there is space again, with no line cut or lost without being counted', async () => {
    const { lines, logged } = await fillAndRelease({});
    expect(lines.pop()).toBe('');
    expect(countRequests(lines)).toBe(logged);
  });

  it('repeats a line that was cut, on a line of its own, if processes share the log', async () => {
    const { lines, logged } = await fillAndRelease({ WORKERS: '2' });
    const isWhole = (line: string) => line.endsWith('}');
    const whole = lines.filter(isWhole);
    expect(countRequests(whole)).toBe(logged);
    for (const cut of lines.filter((line) => !isWhole(line))) {
      expect(whole.some((line) => line.startsWith(cut))).toBe(true);
    }
  });
});

describe('a log that cannot be written', () => {
  it('counts its lines, and does not delay the end of the process', async () => {
    // Every write to this device fails as on a full disk.
    await using started = await startLoggingTo(openSync('/dev/full', 'a'), { WORKERS: '2' });
    await started.sendUntilDropped(100);
    started.child.kill('SIGTERM');
    expect(await started.exited).toEqual([0, null]);
  });

  it('counts its lines when the reader of its pipe exits, and the gateway keeps serving', async () => {
    await using started = await startLoggingTo('pipe');
    started.child.stderr?.destroy();
    await started.sendUntilDropped(100);
    started.child.kill('SIGTERM');
    expect(await started.exited).toEqual([0, null]);
  });

  it('counts the lines of the process that supervises the workers', async () => {
    await using started = await startLoggingTo(openSync('/dev/full', 'a'), { WORKERS: '2' });
    // No request is sent, so only the primary logs: that a worker has exited, and another serves.
    const { pid } = started.child;
    await vi.waitFor(async () => {
      const [worker] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
      process.kill(Number(worker), 'SIGKILL');
      expect(await started.dropped()).toBeGreaterThan(0);
    });
  });

  it.each([
    ['is written completely', join(folder, 'complete.log'), 'first\nsecond\n'],
    ['is given up', '/dev/full', ''],
  ])('%s when the process exits', async (_, path, written) => {
    const log = openSync(path, 'a');
    const writer = openLogWriter(log, false, false, () => {});
    for (const line of ['first\n', 'second\n']) writer.write(line);
    writer.closeNow();
    if (written) expect(readFileSync(path, 'utf8')).toBe(written);
    await writer.close();
    closeSync(log);
  });
});

describe('a log on a pipe that nobody reads', () => {
  it('does not delay the end of the process', async () => {
    await using started = await startLoggingTo(openPipe());
    await started.send(400);
    started.child.kill('SIGTERM');
    expect(await started.exited).toEqual([0, null]);
  });

  it.each(['1', '2'])('does not delay a second signal, with WORKERS=%s', async (WORKERS) => {
    await using started = await startLoggingTo(openPipe(), {
      WORKERS,
      SHUTDOWN_GRACE_MS: '600000',
    });
    // Their log lines fill the pipe.
    await started.send(400);
    // A request that never ends keeps the drain from completing.
    const client = connect(started.port, '127.0.0.1');
    client.on('error', () => {}).write('POST /graphql HTTP/1.1\r\nHost: localhost\r\n');
    await once(client, 'connect');
    const closed = once(client, 'close');
    started.child.kill('SIGTERM');
    await vi.waitFor(() => expect(fetch(`http://127.0.0.1:${started.port}`)).rejects.toThrow());
    started.child.kill('SIGTERM');
    // With workers, a write may be blocked: a worker that exits resets the pipe they share.
    expect([1, 'SIGKILL']).toContain((await started.exited).find((outcome) => outcome !== null));
    await closed;
  });

  it('that processes share gets every line once and in order, also those beyond 4 KiB', async () => {
    const path = join(folder, 'shared-pipe');
    const pipe = openPipe(path, constants.O_NONBLOCK);
    let dropped = 0;
    const writer = openLogWriter(pipe, false, true, () => dropped++);
    const lines = Array.from({ length: 2000 }, (_, index) => {
      const length = index % 7 === 0 ? 5000 + index : 100;
      return `${index} ${'x'.repeat(length)}\n`;
    });
    for (const line of lines) {
      writer.write(line);
      // Writes happen between the lines, while the pipe is full.
      await setImmediate();
    }
    const copy = join(folder, 'shared-copy');
    const reader = spawn('sh', ['-c', 'cat "$1" >"$2"', 'sh', path, copy]);
    await vi.waitFor(() => expect(readFileSync(copy, 'utf8')).toContain(lines.at(-1)));
    expect(dropped).toBe(0);
    expect(readFileSync(copy, 'utf8')).toBe(lines.join(''));
    await writer.close();
    closeSync(pipe);
    await once(reader, 'exit');
  });

  it('buffers 16 MiB, counts the other lines, and continues when the pipe is read', async () => {
    const path = join(folder, 'pipe');
    const pipe = openPipe(path, constants.O_NONBLOCK);
    let dropped = 0;
    const writer = openLogWriter(pipe, false, false, () => dropped++);
    const line = `${'x'.repeat(1023)}\n`;
    const lines = 32 * 1024;
    for (let count = 0; count < lines; count++) writer.write(line);
    expect(dropped).toBeGreaterThan(lines / 2 - 200);
    expect(dropped).toBeLessThan(lines / 2);
    const copy = join(folder, 'copy');
    const reader = spawn('sh', ['-c', 'cat "$1" >"$2"', 'sh', path, copy]);
    const expected = (lines - dropped) * line.length;
    await vi.waitFor(async () => expect((await stat(copy)).size).toBe(expected));
    expect(readFileSync(copy, 'utf8')).toBe(line.repeat(lines - dropped));
    writer.write(line);
    expect(await writer.close()).toBe(true);
    await vi.waitFor(async () => expect((await stat(copy)).size).toBe(expected + 1024));
    closeSync(pipe);
    await once(reader, 'exit');
  });
});
