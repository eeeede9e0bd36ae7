import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { installPeers } from './install-peers.ts';
import { findLoadGenerator } from './load.ts';
import { load } from './measure.ts';
import { choose } from './options.ts';
import { gateway, type Stack, stacks } from './stacks.ts';
import { findFreePort, type RunningServer, type Surroundings, startServer } from './start.ts';
import { layOut } from './table.ts';
import { startUpstream } from './upstream.ts';
import { pets, usualWorkload } from './workloads.ts';

const usage = `Usage: npm run bench:scale -- [options]

Measures how the gateway scales: throughput and latency of one process, of two workers and of two
replicas behind nginx at 64, 256 and 1,024 connections, beside Mercurius; the CPU time that a pet in
a list costs; and the memory that an idle connection takes. Run it on an idle machine.

Options:
  --seconds N  seconds of load per figure [5]
  --help       print this text
`;

const connectionCounts = [64, 256, 1024];
const petCounts = [1, 20, 50, 100];
const idleConnections = 4000;
const warmUpSeconds = 2;

/** With four cores or more the servers have two and the load the others; with fewer they share all. */
const all = availableParallelism();
const isShared = all < 4;
const serverCores = isShared ? `0-${all - 1}` : '0-1';
const loadCores = isShared ? serverCores : `2-${all - 1}`;

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
  const compared = choose('--only', 'mercurius', stacks);
  installPeers(compared);
  spawnSync('taskset', ['-acp', loadCores, String(process.pid)]);
  const folder = mkdtempSync(join(tmpdir(), 'bench-scale-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  await using upstream = await startUpstream();
  const surroundings = { upstream, folder, databaseUrl: ':memory:', apiKey: 'bench-key' };
  const shared = { ...surroundings, serverCores };
  const bench = { ...shared, generator: findLoadGenerator() };

  async function underLoad(
    name: string,
    served: Pick<RunningServer, 'url' | 'messages' | 'answers'>,
  ) {
    const rows: string[][] = [];
    for (const connections of connectionCounts) {
      progress(`${name}: ${connections} connections`);
      await load(served, usualWorkload, warmUpSeconds, bench, connections);
      const result = await load(served, usualWorkload, seconds, bench, connections);
      const rate = Math.round(result.requests / result.seconds).toLocaleString('en');
      rows.push([
        name,
        String(connections),
        rate,
        result.p50Ms.toFixed(1),
        result.p99Ms.toFixed(1),
      ]);
    }
    return rows;
  }

  const rows: string[][] = [];
  for (const workers of [1, 2]) {
    await using server = await startServer(
      withEnv({ WORKERS: String(workers) }),
      usualWorkload,
      shared,
    );
    rows.push(...(await underLoad(workers === 1 ? '1 process' : `${workers} workers`, server)));
  }
  rows.push(...(await behindNginx(shared, underLoad)));
  for (const stack of compared) {
    await using server = await startServer(stack, usualWorkload, shared);
    rows.push(...(await underLoad(stack.title, server)));
  }
  const where = isShared
    ? `The servers, the REST service and the load share ${all} cores.`
    : `The servers run on cores ${serverCores}, the REST service and the load on ${loadCores}.`;
  process.stdout.write(`${usualWorkload.title}. ${where}\n\n`);
  const header = ['', 'connections', 'requests/s', 'p50 ms', 'p99 ms'];
  process.stdout.write(`${layOut(header, rows)}\n`);

  const costs: string[][] = [];
  for (const count of petCounts) {
    const workload = pets(count, 'each');
    progress(workload.title);
    await using server = await startServer(gateway, workload, surroundings);
    await load(server, workload, warmUpSeconds, bench);
    const before = server.process.cpuMs();
    const { requests } = await load(server, workload, seconds, bench);
    costs.push([String(count), (((server.process.cpuMs() - before) * 1000) / requests).toFixed(1)]);
  }
  process.stdout.write(`${layOut(['pets', 'CPU µs per request'], costs)}\n`);

  progress(`${idleConnections} idle connections`);
  await using server = await startServer(withEnv({}), usualWorkload, surroundings);
  await load(server, usualWorkload, warmUpSeconds, bench);
  const kilobytes = await costOfIdleConnections(server);
  process.stdout.write(
    `An idle connection takes ${kilobytes.toFixed(1)} kB of the process (${idleConnections} of them).\n`,
  );
}

/** The gateway with more environment variables, and slots for every connection. */
function withEnv(more: Readonly<Record<string, string>>): Stack {
  return {
    ...gateway,
    command(place) {
      const { argv, env } = gateway.command(place);
      return { argv, env: { ...env, MAX_REQUESTS_IN_FLIGHT: '4000', ...more } };
    },
  };
}

/** Two replicas behind nginx with the configuration in deploy; nothing where nginx is missing. */
async function behindNginx(
  surroundings: Surroundings,
  underLoad: (name: string, server: RunningServer) => Promise<string[][]>,
): Promise<string[][]> {
  if (spawnSync('nginx', ['-v']).error) {
    progress('Replicas are skipped: nginx is not installed.');
    return [];
  }
  await using first = await startServer(withEnv({}), usualWorkload, surroundings);
  await using second = await startServer(withEnv({}), usualWorkload, surroundings);
  const { folder } = surroundings;
  const port = await findFreePort();
  const shipped = readFileSync(new URL('../deploy/nginx.conf', import.meta.url), 'utf8');
  const configured = shipped
    .replace(/ *server gateway:4000.*\n/, (line) =>
      [first, second].map(({ url }) => line.replace('gateway:4000', new URL(url).host)).join(''),
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
    await reachable(port);
    return await underLoad('2 replicas behind nginx', { ...first, url });
  } finally {
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
  }
}

/** Resolves once something listens on the port. @throws after ten seconds. */
async function reachable(port: number): Promise<void> {
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

/** Opens connections that have had one response each, and divides what the process grew by. */
async function costOfIdleConnections({ url, process }: RunningServer): Promise<number> {
  const { port } = new URL(url);
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
