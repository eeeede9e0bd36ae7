import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable that names the network to the script that runs in it. */
const variable = 'TEST_NETWORK';

/** The network that this process runs in; undefined outside of one. */
export const currentNetwork = process.env[variable];

/**
 * Runs a script in a network namespace of its own, which leads nowhere but to hosts of these names,
 * and resolves with its exit code. Every process in it and its temporary files end with the script.
 * Needs root and `ip` (Debian's iproute2).
 */
export async function runInNetwork(
  hosts: readonly string[],
  script: string,
  args: readonly string[],
): Promise<number> {
  const hub = `pets${process.pid}`;
  const spaces = [hub, ...hosts.map((host) => `${hub}-${host}`)];
  for (const space of spaces) ip('netns', 'add', space);
  const temporary = await mkdtemp(join(tmpdir(), 'pet-store-network-'));
  await chmod(temporary, 0o755);
  // The signal goes to the script too: when that has ended, the network is removed.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  try {
    const command = ['netns', 'exec', hub, process.execPath, script, ...args];
    const env = { ...process.env, [variable]: hub, TMPDIR: temporary };
    const [code] = await once(spawn('ip', command, { env, stdio: 'inherit' }), 'exit');
    return (code as number | null) ?? 1;
  } finally {
    for (const space of spaces) {
      signalAll(space, 'SIGKILL');
      ip('netns', 'delete', space);
    }
    await rm(temporary, { recursive: true, maxRetries: 5 });
  }
}

/** The hosts of `runInNetwork`, on a bridge to the script that it runs. */
export class Network {
  readonly #name: string;
  #hosts = 0;

  /** The address at which hosts reach this process. */
  readonly address = `${subnet}.1`;

  constructor(name: string) {
    this.#name = name;
    ip('link', 'set', 'lo', 'up');
    ip('link', 'add', 'bridge', 'type', 'bridge');
    ip('address', 'add', `${this.address}/24`, 'dev', 'bridge');
    ip('link', 'set', 'bridge', 'up');
  }

  /** Connects a host and returns its address. */
  connect(host: string): string {
    const space = this.#space(host);
    const address = `${subnet}.${10 + this.#hosts++}`;
    ip('link', 'add', host, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    ip('link', 'set', host, 'master', 'bridge', 'up');
    ip('-n', space, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', space, 'link', 'set', 'eth0', 'up');
    ip('-n', space, 'link', 'set', 'lo', 'up');
    return address;
  }

  /** Starts a process on a host. */
  start(host: string, command: readonly string[]): void {
    spawn('ip', ['netns', 'exec', this.#space(host), ...command], { stdio: 'ignore' }).unref();
  }

  /** Plugs a host in or out. */
  plug(host: string, state: 'up' | 'down'): void {
    ip('link', 'set', host, state);
  }

  /** Sends a signal to every process of a host. */
  signal(host: string, signal: NodeJS.Signals): void {
    signalAll(this.#space(host), signal);
  }

  #space(host: string): string {
    return `${this.#name}-${host}`;
  }
}

const subnet = '10.79.0';

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8' });
}

function signalAll(space: string, signal: NodeJS.Signals): void {
  for (const pid of ip('netns', 'pids', space).split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), signal);
    } catch {
      // It has ended since.
    }
  }
}
