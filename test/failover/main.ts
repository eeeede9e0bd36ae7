import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { query } from '../support/postgres.ts';
import { nodeStart } from '../support/process.ts';
import { nodes, startCluster, times } from './cluster.ts';
import { currentNetwork, Network, runInNetwork } from './network.ts';
import { compare, startWriters, type Write } from './writers.ts';

const usage = `Usage: npm run dev -- test:failover [rounds]

Runs three PostgreSQL nodes under Patroni with etcd and HAProxy, two gateways and eight writers. Each
node has its own network namespace. In each round the primary is killed, then frozen, then cut off from
the network. Fails if an acknowledged write is lost or stored twice, or a gateway exits. The default is
10 rounds. Requires root and the Debian packages patroni, etcd-server, haproxy, postgresql and iproute2.
`;

/** How to make a primary fail, and how to restore it. */
interface Fault {
  fail(node: string): void;
  restore(node: string): void | Promise<void>;
}

const args = process.argv.slice(2);
if (args.includes('--help')) {
  process.stdout.write(usage);
} else if (currentNetwork !== undefined) {
  await failOver(new Network(currentNetwork), Number(args[0] ?? 10));
} else {
  const needed = ['patroni', 'etcd', 'haproxy', 'pg_dump', 'ip'];
  const missing = needed.filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (process.getuid?.() !== 0 || missing.length > 0) {
    const reason = missing.length > 0 ? `install ${missing.join(', ')}` : 'run as root';
    process.stdout.write(`Failover test SKIPPED: ${reason}.\n`);
  } else {
    process.exitCode = await runInNetwork(nodes, fileURLToPath(import.meta.url), args);
  }
}

async function failOver(network: Network, rounds: number): Promise<void> {
  const cluster = await startCluster(network);
  const faults: Readonly<Record<string, Fault>> = {
    killed: { fail: (node) => network.signal(node, 'SIGKILL'), restore: cluster.startNode },
    frozen: {
      fail: (node) => network.signal(node, 'SIGSTOP'),
      async restore(node) {
        network.signal(node, 'SIGCONT');
        // It must detect that it is no primary any more. Then it is restarted, because after a freeze
        // Patroni 3.0 can disagree with etcd on the synchronous standby forever.
        await wait(3000);
        network.signal(node, 'SIGKILL');
        cluster.startNode(node);
      },
    },
    'cut off': {
      fail: (node) => network.plug(node, 'down'),
      restore: (node) => network.plug(node, 'up'),
    },
  };
  await cluster.healthy();
  const postgres = cluster.databaseUrl('postgres', 'postgres');
  await query(postgres, `create role petstore login password '${cluster.password}'`);
  await query(postgres, 'create database petstore owner petstore');
  const databaseUrl = cluster.databaseUrl('petstore', 'petstore');
  const env = { DATABASE_URL: databaseUrl, DEMO: 'on', MAX_EVENT_LOOP_LAG_MS: '60000' };
  await using first = await nodeStart(env);
  await using second = await nodeStart(env);
  const gateways = [first, second];
  const writers = startWriters(
    gateways.map(({ url }) => url),
    8,
  );

  const { ttl } = times;
  process.stdout.write(
    `Patroni's ttl is ${ttl} s. Seconds until the first acknowledged write of each gateway:\n`,
  );
  const seconds = new Map<string, number[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const [name, { fail, restore }] of Object.entries(faults)) {
      const primary = await cluster.healthy();
      const failedAt = performance.now();
      fail(primary);
      const recoverySeconds = await Promise.all(
        gateways.map(({ url }) => firstWrite(writers.writes, url, failedAt)),
      );
      await restore(primary);
      seconds.set(name, [...(seconds.get(name) ?? []), ...recoverySeconds]);
      const shown = recoverySeconds.map((time) => time.toFixed(1)).join(' and ');
      process.stdout.write(`round ${round}: ${primary} ${name}: ${shown}\n`);
    }
  }
  await cluster.healthy();
  const beforeBackup = writers.writes.filter(({ id }) => id !== undefined);
  const restored = await backUpAndRestore(databaseUrl, cluster.databaseUrl('postgres', 'restored'));
  await writers.stop();
  const problems = compare(beforeBackup, restored).map((problem) => `${problem} (in the backup)`);

  const stored = await petsIn(databaseUrl);
  problems.push(...compare(writers.writes, stored));
  for (const { pid, output, exited } of gateways) {
    const ended = await Promise.race([exited.then(() => true), wait(0, false)]);
    if (ended) problems.push(`gateway ${pid} exited: ${output.stderr.slice(-500)}`);
  }
  for (const [name, all] of seconds) {
    const sorted = all.toSorted((a, b) => a - b);
    const median = sorted[sorted.length >> 1] ?? 0;
    process.stdout.write(
      `${name}: median ${median.toFixed(1)} s, maximum ${(sorted.at(-1) ?? 0).toFixed(1)} s\n`,
    );
  }
  const errors = Map.groupBy(
    writers.writes.filter(({ error }) => error !== undefined),
    ({ error }) => error,
  );
  for (const [error, { length }] of errors) process.stdout.write(`${length} writes: ${error}\n`);
  const acknowledged = writers.writes.filter(({ id }) => id !== undefined).length;
  process.stdout.write(`${acknowledged} writes acknowledged, ${stored.length} stored\n`);
  for (const problem of problems) process.stdout.write(`FAILED: ${problem}\n`);
  process.stdout.write(problems.length === 0 ? 'No write was lost or stored twice.\n' : '');
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** The seconds until a gateway acknowledged a write that was sent after this time. */
async function firstWrite(
  writes: readonly Write[],
  gateway: string,
  after: number,
): Promise<number> {
  let next = 0;
  for (const end = after + 120_000; performance.now() < end; await wait(20)) {
    for (; next < writes.length; next++) {
      const write = writes[next];
      if (write?.gateway !== gateway || write.id === undefined) continue;
      if (write.startedAt > after) return (write.endedAt - after) / 1000;
    }
  }
  throw new Error('No write was acknowledged within two minutes.');
}

/** Backs up and restores a database, as in docs/built-in-backend.md. @returns the restored pets. */
async function backUpAndRestore(databaseUrl: string, newDatabaseUrl: string) {
  const file = join(tmpdir(), 'backup.dump');
  const server = newDatabaseUrl.replace(/[^/]*$/, 'postgres');
  execFileSync('pg_dump', ['--format=custom', `--file=${file}`, databaseUrl]);
  await query(server, 'create database restored');
  execFileSync('pg_restore', ['--no-owner', `--dbname=${newDatabaseUrl}`, file]);
  return petsIn(newDatabaseUrl);
}

const petsIn = async (databaseUrl: string) =>
  (await query(databaseUrl, 'select id::text, name from pets')) as { id: string; name: string }[];
