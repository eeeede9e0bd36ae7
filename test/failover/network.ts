import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The environment variable that contains the name of the network in the script. */
const variable = 'TEST_NETWORK';

/** The network that this process runs in, or undefined. */
export const currentNetwork = process.env[variable];

/**
 * Runs a script in a separate network namespace that only connects to hosts with these names.
 * Resolves with the exit code. All its processes and temporary files are removed when the script
 * exits. Requires root and `ip` (Debian's iproute2).
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
  // The script receives the signal too. The network is removed after the script exits.
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

/** The hosts of `runInNetwork`, connected to the script by a bridge. */
export class Network {
  readonly #name: string;
  #hosts = 0;

  /** The address of this process for the hosts. */
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

  /** Connects (`up`) or disconnects (`down`) a host. */
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
      // The process has already exited.
    }
  }
}
