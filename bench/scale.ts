import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { installPeers } from './install-peers.ts';
import { findWrk, load, type Target } from './load.ts';
import { gateway, type Stack, stacks } from './stacks.ts';
import { type Fixtures, findFreePort, type RunningServer, startServer } from './start.ts';
import { layOut } from './table.ts';
import { startUpstream } from './upstream.ts';
import { defaultWorkload } from './workloads.ts';

const usage = `Usage: npm run dev -- bench:scale [options]

Measures how the gateway scales: throughput and latency of one process, of two workers and of two
replicas behind nginx, compared with Mercurius, at 64, 256 and 1,024 connections; and the memory per
idle connection. Run it on an idle machine.

Options:
  --seconds N  seconds of load per figure (default: 5)
  --help       show this help
`;

const connectionCounts = [64, 256, 1024];
const idleConnections = 4000;
const warmUpSeconds = 2;

/** With four or more cores, the servers use two and the load the rest. Otherwise they share all. */
const coreCount = availableParallelism();
const isShared = coreCount < 4;
const serverCores = isShared ? `0-${coreCount - 1}` : '0-1';
const loadCores = isShared ? serverCores : `2-${coreCount - 1}`;

try {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '5' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) process.stdout.write(usage);
  else await run(Number(values.seconds));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function run(seconds: number): Promise<void> {
  if (!(seconds > 0)) throw new Error('--seconds: expected a number above 0.');
  findWrk();
  const compared = stacks.filter(({ name }) => name === 'mercurius');
  installPeers(compared);
  spawnSync('taskset', ['-acp', loadCores, String(process.pid)]);
  const folder = mkdtempSync(join(tmpdir(), 'bench-scale-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  await using upstream = await startUpstream();
  const fixtures = { upstream, folder };
  const shared = { ...fixtures, serverCores };

  async function measureUnderLoad(name: string, target: Target) {
    const rows: string[][] = [];
    for (const connections of connectionCounts) {
      progress(`${name}: ${connections} connections`);
      await load(target, defaultWorkload.keys, warmUpSeconds, connections);
      const result = await load(target, defaultWorkload.keys, seconds, connections);
      const rate = Math.round(result.requests / result.seconds).toLocaleString('en');
      const latency = [result.p50Ms.toFixed(1), result.p99Ms.toFixed(1)];
      rows.push([name, String(connections), rate, ...latency]);
    }
    return rows;
  }

  const rows: string[][] = [];
  for (const workers of [1, 2]) {
    await using server = await startServer(
      withEnv({ WORKERS: String(workers) }),
      [defaultWorkload],
      shared,
    );
    const name = workers === 1 ? '1 process' : `${workers} workers`;
    rows.push(...(await measureUnderLoad(name, targetOf(server))));
  }
  rows.push(...(await measureBehindNginx(shared, measureUnderLoad)));
  for (const stack of compared) {
    await using server = await startServer(stack, [defaultWorkload], shared);
    rows.push(...(await measureUnderLoad(stack.title, targetOf(server))));
  }
  const where = isShared
    ? `The servers, the REST service and the load share ${coreCount} cores.`
    : `The servers run on cores ${serverCores}, the REST service and the load on ${loadCores}.`;
  process.stdout.write(`${defaultWorkload.title}, a thousand keys. ${where}\n\n`);
  const header = ['', 'connections', 'requests/s', 'p50 ms', 'p99 ms'];
  process.stdout.write(`${layOut(header, rows)}\n`);

  progress(`${idleConnections} idle connections`);
  await using server = await startServer(withEnv({}), [defaultWorkload], fixtures);
  await load(targetOf(server), defaultWorkload.keys, warmUpSeconds);
  const kilobytes = await measureIdleConnections(server);
  process.stdout.write(
    `An idle connection uses ${kilobytes.toFixed(1)} kB of memory (measured with ${idleConnections} connections).\n`,
  );
}

function targetOf({ targets }: RunningServer): Target {
  return targets.get(defaultWorkload) as Target;
}

/** The gateway with additional environment variables, and a slot for every connection. */
function withEnv(more: Readonly<Record<string, string>>): Stack {
  return {
    ...gateway,
    command(options) {
      const { argv, env } = gateway.command(options);
      return { argv, env: { ...env, MAX_REQUESTS_IN_FLIGHT: '4000', ...more } };
    },
  };
}

/** Measures two replicas behind nginx with `deploy/nginx.conf`. @returns no rows without nginx. */
async function measureBehindNginx(
  fixtures: Fixtures,
  measureUnderLoad: (name: string, target: Target) => Promise<string[][]>,
): Promise<string[][]> {
  if (spawnSync('nginx', ['-v']).error) {
    progress('Skipped: two replicas behind nginx. nginx is not installed.');
    return [];
  }
  await using first = await startServer(withEnv({}), [defaultWorkload], fixtures);
  await using second = await startServer(withEnv({}), [defaultWorkload], fixtures);
  const { folder } = fixtures;
  const port = await findFreePort();
  const shipped = readFileSync(new URL('../deploy/nginx.conf', import.meta.url), 'utf8');
  const configured = shipped
    .replace(/ *server gateway:4000.*\n/, (line) =>
      [first, second]
        .map((server) => line.replace('gateway:4000', new URL(targetOf(server).url).host))
        .join(''),
    )
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('/dev/stdout', 'access.log');
  writeFileSync(join(folder, 'nginx.conf'), configured);
  const nginx = spawn(
    'taskset',
    [
      '-c',
      serverCores,
      'nginx',
      '-p',
      folder,
      '-c',
      join(folder, 'nginx.conf'),
      '-g',
      'daemon off;',
    ],
    { stdio: 'ignore' },
  );
  try {
    const url = `http://127.0.0.1:${port}`;
    await waitUntilReachable(port);
    return await measureUnderLoad('2 replicas behind nginx', { ...targetOf(first), url });
  } finally {
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
  }
}

/** Waits until a server listens on the port. @throws after ten seconds. */
async function waitUntilReachable(port: number): Promise<void> {
  const end = performance.now() + 10_000;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await wait(20);
    } finally {
      socket.destroy();
    }
  }
}

/** Opens connections with one response each. @returns the memory per connection, in kB. */
async function measureIdleConnections(server: RunningServer): Promise<number> {
  const { process } = server;
  const { port } = new URL(targetOf(server).url);
  const body = '{"query":"{ __typename }"}';
  const request = `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const before = process.memoryBytes();
  const sockets: Socket[] = [];
  try {
    for (let opened = 0; opened < idleConnections; opened++) {
      const socket = connect(Number(port), '127.0.0.1');
      sockets.push(socket);
      socket.write(request);
      await once(socket, 'data');
    }
    return (process.memoryBytes() - before) / idleConnections / 1000;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
