import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'yaml';
import type { Network } from './network.ts';

const deploy = new URL('../../deploy/postgresql/', import.meta.url);
/** The hosts that the nodes of the cluster run on. */
export const nodes = ['node1', 'node2', 'node3'] as const;

/** Patroni's timeouts in the test, in seconds. Production uses three times these values. */
export const times = { ttl: 10, loop_wait: 1, retry_timeout: 3 };

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/**
 * Starts three PostgreSQL nodes under Patroni with etcd, and HAProxy in front of them, configured
 * as in `deploy/postgresql`. All processes run in the network and are killed when it is removed.
 */
export async function startCluster(network: Network) {
  const folder = tmpdir();
  const password = randomBytes(16).toString('hex');
  const addresses = new Map(nodes.map((name) => [name as string, network.connect(name)]));

  const clients = `http://${network.address}:2379`;
  start('etcd', [
    ...['--data-dir', join(folder, 'etcd'), '--listen-peer-urls', 'http://127.0.0.1:2380'],
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients, '--enable-v2'],
  ]);

  const startNode = (name: string) => {
    const asPostgres = 'setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env';
    const log = join(folder, `${name}.log`);
    const patroni = `exec patroni ${join(folder, `${name}.json`)} >>${log} 2>&1`;
    network.start(name, [...asPostgres.split(' '), 'sh', '-c', patroni]);
  };
  const source = parse(await readFile(new URL('patroni.yaml', deploy), 'utf8'));
  for (const [name, address] of addresses) {
    const home = join(folder, name);
    await mkdir(home);
    await writeFile(join(folder, `${name}.log`), '');
    execFileSync('chown', ['postgres', home, join(folder, `${name}.log`)]);
    const { authentication, ...postgresql } = source.postgresql;
    const accounts = Object.entries(authentication as Record<string, object>).map(
      ([role, account]) => [role, { ...account, password }] as const,
    );
    const config = {
      ...source,
      name,
      etcd: { hosts: [`${network.address}:2379`] },
      restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
      bootstrap: { ...source.bootstrap, dcs: { ...source.bootstrap.dcs, ...times } },
      postgresql: {
        ...postgresql,
        listen: `${address}:5432`,
        connect_address: `${address}:5432`,
        data_dir: join(home, 'data'),
        parameters: { unix_socket_directories: home },
        authentication: Object.fromEntries(accounts),
      },
    };
    // JSON is valid YAML.
    await writeFile(join(folder, `${name}.json`), JSON.stringify(config));
    startNode(name);
  }

  const proxy = join(folder, 'haproxy.cfg');
  const proxied = (await readFile(new URL('haproxy.cfg', deploy), 'utf8')).replace(
    /(server (\S+)) \S+:/g,
    (_, server, name) => `${server} ${addresses.get(name)}:`,
  );
  await writeFile(proxy, proxied);
  start('haproxy', ['-db', '-f', proxy]);

  /** The members of the cluster, from the first node that responds. */
  const members = async (): Promise<readonly Member[]> => {
    for (const address of addresses.values()) {
      const signal = AbortSignal.timeout(1000);
      const response = await fetch(`http://${address}:8008/cluster`, { signal }).catch(() => null);
      if (response?.ok) return (await response.json()).members;
    }
    return [];
  };

  return {
    databaseUrl: (user: string, database: string) =>
      `postgres://${user}:${password}@127.0.0.1:5000/${database}`,
    password,
    startNode,
    /** Resolves with the name of the primary when all nodes run and one standby is synchronous. */
    async healthy(): Promise<string> {
      for (const end = performance.now() + 120_000; performance.now() < end; await wait(250)) {
        const all = await members();
        const roles = all.filter(({ state }) => state === 'running').map(({ role }) => role);
        const primary = all.find(({ role }) => role === 'leader');
        if (primary && roles.length === 3 && roles.includes('sync_standby')) return primary.name;
      }
      const logs = nodes.map((name) => readFile(join(folder, `${name}.log`), 'utf8'));
      const ends = (await Promise.all(logs)).map((log) => log.slice(-3000)).join('\n---\n');
      throw new Error(`The cluster did not recover: ${JSON.stringify(await members())}\n${ends}`);
    },
  };
}

function start(command: string, args: readonly string[]): void {
  spawn(command, args, { stdio: 'ignore' }).unref();
}
